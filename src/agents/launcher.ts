// How does an agent come to life? Its command, the environment of whoever caused its start, and a client on its pipes.
import type { AgentProcess, Keepers, LeftAgent, SpawnAgent } from "../platform/agent-world.ts";
import type { Clock, Files, Log } from "../platform/world.ts";
import type { PermissionOutcome, PermissionParams } from "../protocol/acp.ts";
import type { AgentInfo } from "../protocol/agents.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { createLineSplitter, MAX_LINE_BYTES } from "../rpc/lines.ts";
import { AcpClient, type AcpStart } from "./acp-client.ts";
import type { AgentManager } from "./agent-manager.ts";
import type { AgentManagerDeps, Started } from "./agent-slot.ts";
import { type AgentCheckpoint, type Checkpoints, createCheckpoints, readCheckpoint, startFrom } from "./checkpoint.ts";
import { type AgentDefinition, environmentFor } from "./definitions.ts";
import type { SaidUpdate } from "./early-updates.ts";
import type { Source } from "./journal.ts";
import { notInstalled } from "./start-failure.ts";
import { watchTornOutput } from "./torn-output.ts";

type Env = Readonly<Record<string, string>>;

/** What starting agents needs of the outside. */
export interface LauncherWorld {
  clock: Clock;
  files: Files;
  log: Log;
  newId(): string;
  random(): number;
  directory: string;
  definitions: readonly AgentDefinition[];
  spawn: SpawnAgent;
  /** Absent where agents die with their host. */
  keepers?: Keepers;
  which(command: string, path: string): boolean;
}

export interface LauncherDeps extends LauncherWorld {
  update(agent: string, client: AcpClient, sessionId: string, said: SaidUpdate): void;
  permission(agent: string, params: PermissionParams, permissionId: string): Promise<PermissionOutcome>;
  withdrawn(permissionId: string): void;
  /** For people who look on. */
  notice(agent: string, text: string): void;
  /** It fell silent in the middle of a line, and somebody waits for it. */
  torn(agent: string, client: AcpClient): void;
  /** Its files grow, and only a new process has new ones. */
  full(agent: string, client: AcpClient): void;
  /** Up to where what this life of the agent said stands in the session's journal. */
  onRecord(agent: string, sessionId: string, run: string): number;
  /** Whether all that this agent said stands in the journals. */
  isWritten(agent: string): boolean;
}

export interface Launcher {
  start: AgentManagerDeps["start"];
  /** Goes on where an earlier host was: nothing is told before this turn of the loop is over. */
  adopt(left: LeftAgent): Started;
  /** A turn has ended: a good moment to spare the next host some reading. */
  settled(client: AcpClient): void;
  connected(client: AcpClient): void;
  definition(name: string): AgentDefinition;
  displayName(name: string): string;
  /** Kept for restarts, until the next start that somebody causes. */
  remember(name: string, env: Env): void;
  /** Throws, with the line that installs it, where this environment does not find it. */
  mustBeInstalled(name: string, env: Env): void;
  infos(manager: AgentManager, env: Env): AgentInfo[];
  /** The agent's own program with other arguments, for its terminal login. */
  command(name: string, args: readonly string[]): { command: string; args: string[] };
}

const IDS_PER_HOST = 1_000_000;
/** As most agents write it; written otherwise it is read, and passed over then. */
const UPDATE_OF = /^\{"jsonrpc":"2\.0","method":"session\/update","params":\{"sessionId":"([^"\\]+)"/;

export function createLauncher(deps: LauncherDeps): Launcher {
  const { clock, log, newId, definitions } = deps;
  const environments = new Map<string, Record<string, string>>();

  const definition = (name: string): AgentDefinition => {
    const found = definitions.find((each) => each.name === name);
    if (found) return found;
    const names = definitions.map((each) => each.name).join(", ");
    throw new Fault(
      "AGENT_NOT_FOUND",
      `There is no agent "${name}"; there are: ${names} (a host reads the config file when it starts)`,
      { agent: name },
    );
  };
  const commandOf = ({ commands }: AgentDefinition, { PATH = "" }: Env) =>
    commands.find(({ command }) => deps.which(command, PATH));

  // Private, as everything here: it may hold the vendor's key. A restart by another host needs it too.
  const envFile = (name: string): string => `${deps.directory}/${name}.env.json`;
  const kept = (name: string): Record<string, string> => {
    const text = deps.files.readPrivate(envFile(name));
    return text === undefined ? {} : JSON.parse(text);
  };

  const checkpoints = new WeakMap<AcpClient, Checkpoints>();
  /** Ids tell which host asked. They begin anywhere: a generation that could not be written may be another's too. */
  const FIRST_ID = Math.floor(((deps.keepers?.generation ?? 0) + deps.random() / 2) * IDS_PER_HOST);
  const displayNameOf = (name: string) => definitions.find((each) => each.name === name)?.displayName ?? name;
  const unsureOf = (client: AcpClient, displayName: string) => (keys: readonly string[]) =>
    client.giveUp(keys, new Fault("AGENT_LOST", `Whether ${displayName} got this is not known`));

  const connect = (name: string, run: string, from: Pick<AgentCheckpoint, "out">, start: AcpStart) => {
    let isReplay = start.requests !== undefined;
    const known = new Map<string, number>();
    const onRecord = (sessionId: string): number => {
      const upTo = known.get(sessionId) ?? deps.onRecord(name, sessionId, run);
      known.set(sessionId, upTo);
      return upTo;
    };
    let process: AgentProcess | undefined;
    // All in front of where it begins was heard.
    let source: Source = { run, offset: from.out - 1 };
    const splitter = createLineSplitter(
      {
        line(text, offset) {
          source = { run, offset };
          // What an earlier host heard and wrote down is passed over unread.
          const sessionId = isReplay ? UPDATE_OF.exec(text)?.[1] : undefined;
          if (sessionId !== undefined) isReplay = offset <= onRecord(sessionId);
          if (sessionId === undefined || !isReplay) client.receive(text);
        },
        tooLong: (bytes) => deps.notice(name, `A line of ${bytes} bytes from ${displayNameOf(name)} was dropped`),
      },
      MAX_LINE_BYTES,
      from.out,
    );
    const events = {
      update: (sessionId: string, update: Record<string, unknown>, beside: Record<string, unknown> = {}) =>
        deps.update(name, client, sessionId, { update, beside, source }),
      permission: (params: PermissionParams, requestId: string) => deps.permission(name, params, `${run}:${requestId}`),
      withdrawn: (requestId: string) => deps.withdrawn(`${run}:${requestId}`),
    };
    const write = (line: string, key?: string): void => process?.write(line, key);
    const client: AcpClient = new AcpClient(clock, write, events, { ...start, position: () => source });
    const own = createCheckpoints({
      clock,
      client,
      from: from.out,
      out: () => splitter.offset,
      kept: () => process?.kept,
      isWritten: () => deps.isWritten(name),
      full: () => deps.full(name, client),
    });
    checkpoints.set(client, own);
    const isAwaited = (): boolean => client.open.requests.some(({ method }) => method === "session/prompt");
    const torn = watchTornOutput(clock, isAwaited, () => deps.torn(name, client));
    const output = (bytes: Uint8Array): void => {
      splitter.push(bytes);
      torn.heard(splitter.isInside);
      own.grew();
    };
    const attach = (started: AgentProcess): void => {
      process = started;
    };
    return { client, output, attach };
  };

  return {
    definition,
    displayName: displayNameOf,
    remember(name, env) {
      const own = environmentFor(definition(name), env);
      environments.set(name, own);
      try {
        deps.files.replace(envFile(name), JSON.stringify(own));
      } catch (thrown) {
        log.warn(`The environment for ${name} is not kept for restarts: ${messageOf(thrown)}`);
      }
    },
    mustBeInstalled(name, env) {
      const wanted = definition(name);
      if (commandOf(wanted, environmentFor(wanted, env))) return;
      const { message, detail } = notInstalled(wanted.displayName, wanted.install);
      throw new Fault("AGENT_NOT_FOUND", `${message}\n${detail}`, { agent: name, detail });
    },
    start(name) {
      const { displayName, install, ...rest } = definition(name);
      const env = environments.get(name) ?? kept(name);
      const command = commandOf({ displayName, install, ...rest }, env);
      const missing = { kind: "missing", install } as const;
      if (!command) return missing;
      const run = newId();
      const { client, output, attach } = connect(name, run, { out: 0 }, { firstId: FIRST_ID });
      const events = { output, unsure: unsureOf(client, displayName) };
      const started = deps.spawn({ ...command, agent: name, run, env, cwd: env["HOME"] ?? "/" }, events);
      if (started.kind === "missing") return missing;
      attach(started.process);
      return { kind: "started", process: started.process, client };
    },
    adopt(left) {
      const from = readCheckpoint(left.checkpoint);
      const start = startFrom(from, left.inputs(from.in));
      const { client, output, attach } = connect(left.agent, left.run, from, { ...start, firstId: FIRST_ID });
      const process = left.adopt(from.out, { output, unsure: unsureOf(client, displayNameOf(left.agent)) });
      attach(process);
      // Behind whoever makes sessions of what was left.
      clock.after(0, () => {
        for (const question of from.questions) client.askedBefore(question);
      });
      return { process, client };
    },
    settled: (client) => checkpoints.get(client)?.settled(),
    connected: (client) => checkpoints.get(client)?.connected(),
    command(name, args) {
      const found = commandOf(definition(name), environments.get(name) ?? kept(name));
      return { command: found?.command ?? "", args: [...args] };
    },
    infos: (manager, env) =>
      definitions.map((each): AgentInfo => {
        const { name, displayName, install, commands } = each;
        const command = commandOf(each, env);
        const shown = (command ?? commands[0])?.command ?? "";
        const status = manager.getStatus(name);
        const pid = manager.pid(name) ?? null;
        const keeper = manager.processOf(name)?.kept?.keeperPid ?? null;
        const stderr = [...manager.stderr(name)];
        return {
          name,
          displayName,
          command: shown,
          found: command !== undefined,
          install,
          status,
          pid,
          keeper,
          stderr,
        };
      }),
  };
}

// How does an agent come to life? Its command, the environment of whoever caused its start, and a client on its pipes.
import type { Clock, Files, Log, SpawnAgent } from "../platform/world.ts";
import type { PermissionOutcome, PermissionParams } from "../protocol/acp.ts";
import type { AgentInfo } from "../protocol/agents.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { createLineSplitter } from "../rpc/lines.ts";
import { AcpClient } from "./acp-client.ts";
import type { AgentManager, AgentManagerDeps } from "./agent-manager.ts";
import { type AgentDefinition, environmentFor } from "./definitions.ts";
import type { Source } from "./journal.ts";

type Env = Readonly<Record<string, string>>;

/** What starting agents needs of the outside. */
export interface LauncherWorld {
  clock: Clock;
  files: Files;
  log: Log;
  newId(): string;
  directory: string;
  definitions: readonly AgentDefinition[];
  spawn: SpawnAgent;
  which(command: string, path: string): boolean;
}

export interface LauncherDeps extends LauncherWorld {
  update(agent: string, client: AcpClient, sessionId: string, update: Record<string, unknown>, source: Source): void;
  permission(agent: string, params: PermissionParams, permissionId: string): Promise<PermissionOutcome>;
  withdrawn(permissionId: string): void;
}

export interface Launcher {
  start: AgentManagerDeps["start"];
  definition(name: string): AgentDefinition;
  displayName(name: string): string;
  /** Kept for restarts, until the next start that somebody causes. */
  remember(name: string, env: Env): void;
  infos(manager: AgentManager, env: Env): AgentInfo[];
  /** The agent's own program with other arguments, for its terminal login. */
  command(name: string, args: readonly string[]): { command: string; args: string[] };
}

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

  return {
    definition,
    displayName: (name) => definitions.find((each) => each.name === name)?.displayName ?? name,
    remember(name, env) {
      const own = environmentFor(definition(name), env);
      environments.set(name, own);
      try {
        deps.files.replace(envFile(name), JSON.stringify(own));
      } catch (thrown) {
        log.warn(`The environment for ${name} is not kept for restarts: ${messageOf(thrown)}`);
      }
    },
    start(name) {
      const { displayName, install, ...rest } = definition(name);
      const env = environments.get(name) ?? kept(name);
      const command = commandOf({ displayName, install, ...rest }, env);
      const missing = { kind: "missing", install } as const;
      if (!command) return missing;
      const run = newId();
      let offset = 0;
      const splitter = createLineSplitter({
        line(text, at) {
          offset = at;
          client.receive(text);
        },
        tooLong: (bytes) => log.warn(`A line of ${bytes} bytes from ${displayName} was dropped`),
      });
      const output = (bytes: Uint8Array) => splitter.push(bytes);
      const started = deps.spawn({ ...command, env, cwd: env["HOME"] ?? "/" }, { output });
      if (started.kind === "missing") return missing;
      const { process } = started;
      const client: AcpClient = new AcpClient(clock, process.write, {
        update: (sessionId, update) => deps.update(name, client, sessionId, update, { run, offset }),
        permission: (params, requestId) => deps.permission(name, params, `${run}:${requestId}`),
        withdrawn: (requestId) => deps.withdrawn(`${run}:${requestId}`),
      });
      return { kind: "started", process, client };
    },
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
        const stderr = [...manager.stderr(name)];
        return { name, displayName, command: shown, found: command !== undefined, install, status, pid, stderr };
      }),
  };
}

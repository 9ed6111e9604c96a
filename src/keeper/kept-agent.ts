// How does a host use an agent that a keeper holds? As a process like any other; its keeper may be replaced meanwhile.
import type {
  AgentExit,
  AgentProcess,
  AgentProcessEvents,
  LineConnected,
  LineEvents,
  LineSocket,
  ProcessMark,
  Tail,
} from "../platform/agent-world.ts";
import type { Clock, Files, Log } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import { createKeeperLink } from "./keeper-link.ts";
import type { KeeperSpec, Place } from "./place.ts";
import { createKeeperReach, type ReachDeps, UNKNOWN } from "./reach-keeper.ts";

export interface KeptAgentDeps {
  clock: Clock;
  files: Files;
  log: Log;
  generation: number;
  place: Place;
  spec: KeeperSpec;
  connect(path: string, attach: (socket: LineSocket) => LineEvents): Promise<LineConnected>;
  startKeeper: ReachDeps["startKeeper"];
  tail(path: string, from: number, tell: (bytes: Uint8Array) => void): Tail;
  /** The last bytes of a file, as text. */
  tailText(path: string): string;
  lifeOf: ReachDeps["lifeOf"];
  /** By the tag, and by what the last keeper saw. */
  sweep(tag: string, strays: readonly ProcessMark[]): number;
  /** At once; a negative one is a group. */
  kill(pid: number): void;
  punchHole(path: string, bytes: number): Promise<boolean>;
  /** A newer host has it. */
  fenced(): void;
}

const STDERR_LINES = 200;
const GIVE_BACK_BYTES = 64 * 1024 * 1024;

export interface KeptProcess extends AgentProcess {
  /** Its first keeper, which starts it. */
  start(): void;
  /** Connects to its keeper, or replaces that; resolves when it is ours, or gone. */
  take(): Promise<void>;
  /** From now on its output is told. */
  listen(offset: number, events: AgentProcessEvents): void;
  readonly isGone: boolean;
  /** It is another host's, or nobody's. */
  readonly isReleased: boolean;
  /** Who was told to leave with it. */
  readonly leaver: ProcessMark | undefined;
}

export function createKeptAgent(deps: KeptAgentDeps): KeptProcess {
  const { clock, files, log, place, spec, generation } = deps;
  const exit = Promise.withResolvers<AgentExit>();
  let tail: Tail | undefined;
  let events: AgentProcessEvents = { output() {} };
  let [pid, keeperPid, writes, givenBack] = [0, 0, 0, 0];
  let unsure: readonly string[] = [];
  let gone: AgentExit | undefined;
  /** Why it died is asked for when its files are gone. */
  let lastErrors: string[] | undefined;
  let canPunch = true;
  let leaver: ProcessMark | undefined;
  /** Told to every keeper: one that takes another's place knows only how things were at the start. */
  let lingerMs: number | undefined;
  /** It is another host's, or nobody's: nothing of it is touched any more. */
  let over = false;

  const ended = (how: AgentExit): void => {
    gone ??= how;
    if (!tail) return;
    // What it said last is told before its end.
    tail.drain();
    tail.stop();
    exit.resolve(gone);
  };

  /** What was answered meanwhile is sure: its output is told first. */
  const tellUnsure = (): void => {
    if (!tail || unsure.length === 0) return;
    tail.drain();
    events.unsure?.(unsure);
    unsure = [];
  };

  const link = createKeeperLink(
    { clock, generation, socket: spec.socket, connect: deps.connect },
    {
      attached(attached) {
        pid = attached.agentPid;
        keeperPid = attached.pid;
        ({ unsure } = attached);
        if (lingerMs !== undefined) link.send({ verb: "linger", ms: lingerMs });
        tellUnsure();
        if (attached.exit) ended(attached.exit);
      },
      exited: (how) => ended(how ?? UNKNOWN),
      fenced() {
        over = true;
        tail?.stop();
        deps.fenced();
      },
      lost: () => void recover(),
    },
  );

  const recover = async (): Promise<void> => {
    if (over || gone) return;
    log.warn(`The keeper of ${spec.agent} is gone; a new one takes its place`, { keeper: keeperPid });
    await keeper.reach().catch((thrown) => log.warn(`No keeper for ${spec.agent}: ${messageOf(thrown)}`));
  };

  const keeper = createKeeperReach({
    ...deps,
    agent: spec.agent,
    open: link.open,
    isOver: () => over || gone !== undefined,
    ended,
  });

  const errors = (): string[] => deps.tailText(place.err).split("\n").filter(Boolean).slice(-STDERR_LINES);
  const signal = (name: "EOF" | "SIGTERM" | "SIGKILL"): void => link.send({ verb: "signal", signal: name });

  const punch = async (path: string, bytes: number): Promise<boolean> =>
    bytes === 0 || (await deps.punchHole(path, bytes).catch(() => false));

  return {
    get pid() {
      return pid;
    },
    get isGone() {
      return gone !== undefined;
    },
    get isReleased() {
      return over;
    },
    get leaver() {
      return leaver;
    },
    start: keeper.start,
    take: keeper.reach,
    listen(offset, told) {
      events = told;
      tail = deps.tail(place.out, offset, told.output);
      clock.after(0, () => {
        tellUnsure();
        if (gone) ended(gone);
      });
    },
    write: (line, key) => link.write(key ?? `${generation}.${writes++}`, line),
    closeInput: () => signal("EOF"),
    signalGroup: signal,
    sweep: () => (over ? 0 : deps.sweep(spec.tag, place.state()?.strays ?? [])),
    exited: exit.promise,
    stderr: () => lastErrors ?? errors(),
    kept: {
      get keeperPid() {
        return keeperPid;
      },
      get inputEnd() {
        return link.inputEnd;
      },
      checkpoint: (text) => files.replace(place.checkpoint, text),
      linger(ms) {
        lingerMs = ms;
        link.send({ verb: "linger", ms });
      },
      async giveBack(out, input) {
        if (out + input - givenBack < GIVE_BACK_BYTES) return true;
        // Where it failed once every further try costs a process, and fails too.
        if (!canPunch) return false;
        const before = givenBack;
        givenBack = out + input;
        const punched = await Promise.all([punch(place.out, out), punch(place.inputLog, input)]);
        canPunch = punched.every(Boolean);
        if (!canPunch) givenBack = before;
        return canPunch;
      },
      release() {
        over = true;
        tail?.stop();
        link.close();
      },
      forget() {
        if (over) return;
        over = true;
        leaver = place.state()?.keeper;
        lastErrors = errors();
        tail?.stop();
        link.send({ verb: "leave" });
        link.close();
        try {
          place.remove();
          // It may lie elsewhere, and a keeper that was killed took nothing with it.
          files.remove(spec.socket);
        } catch (thrown) {
          log.warn(`What ${spec.agent} left is for the next host to remove: ${messageOf(thrown)}`);
        }
      },
    },
  };
}

// Who stays with an agent whatever happens to hosts? One small process each: its input, its signals, how it ended.
import { dirname } from "node:path";
import type { HeldAgent, LineDoor, LineEvents, LineSocket, ProcessMark } from "../platform/agent-world.ts";
import type { Clock, Files, Log } from "../platform/world.ts";
import { isAnswerKey } from "../rpc/json-rpc.ts";
import { openInputLog } from "./input-log.ts";
import { createInputWriter } from "./input-writer.ts";
import { endProcess, sweepAll } from "./ladder.ts";
import type { KeeperSpec, KeeperState, Place } from "./place.ts";
import { type Exit, type HostLine, KEEPER_VERSION, type KeeperLine, parseLine } from "./wire.ts";

export interface KeeperDeps {
  clock: Clock;
  files: Files;
  log: Log;
  place: Place;
  spec: KeeperSpec;
  /** What an earlier keeper of this agent left; undefined: the agent is to be started. */
  earlier: KeeperState | undefined;
  self: ProcessMark;
  hold(): HeldAgent;
  listen(path: string, attach: (socket: LineSocket) => LineEvents): LineDoor;
}

const TICK_MS = 1_000;
const LOOK_TICKS = 2;

/** Resolves when there is nothing left to keep. */
export async function keep(deps: KeeperDeps): Promise<void> {
  const { clock, files, log, place, spec, earlier, self } = deps;
  const { promise: over, resolve: leave } = Promise.withResolvers<void>();
  let host: LineSocket | undefined;
  let state: KeeperState = {
    version: KEEPER_VERSION,
    agent: null,
    holder: null,
    generation: 0,
    ending: false,
    exit: null,
    strays: [],
    failed: null,
    ...earlier,
    keeper: self,
  };
  let lingerMs = spec.lingerMs;
  let aloneSince = clock.elapsed();
  let unwritten = false;

  const remember = (change: Partial<KeeperState>): void => {
    state = { ...state, ...change };
    try {
      place.keepState(state);
      unwritten = false;
    } catch (thrown) {
      // A full disk: what we know is told to whoever attaches, and written when there is room.
      if (!unwritten) log.warn(`The keeper's state is not on disk: ${thrown}`);
      unwritten = true;
    }
  };

  remember({});
  // An agent whose keeper is on no record would be nobody's: on a full disk none is started.
  if (unwritten && !earlier) return;
  const inputs = openInputLog(files.journal(place.inputLog));
  // Of an earlier keeper; what we write ourselves we know. An answer is written again: twice it harms no agent
  // (measured), and one that never came would leave its turn waiting for ever.
  const doubtful = earlier ? inputs.unsure : [];
  const again = doubtful.filter(({ key }) => isAnswerKey(key));
  const unsure = doubtful.map(({ key }) => key).filter((key) => !isAnswerKey(key));
  let agent: HeldAgent;
  try {
    agent = deps.hold();
  } catch (thrown) {
    // It lives, and the next keeper may have more luck.
    if (earlier) throw thrown;
    remember({ failed: thrown instanceof Error ? thrown.message : String(thrown), exit: { code: null, signal: null } });
    return;
  }
  remember({ agent: agent.agent, holder: agent.holder });
  // A line that the earlier keeper wrote half of is closed here, in front of all others.
  const ready = earlier ? agent.write("\n") : Promise.resolve();

  const tell = (line: KeeperLine): void => host?.send(JSON.stringify(line));
  const { write, hostChanged } = createInputWriter(clock, inputs, agent, ready, tell);
  for (const input of again) write(input);

  void agent.exited.then((exit: Exit) => {
    remember({ exit });
    tell({ told: "exited", exit });
  });

  const attach = (socket: LineSocket, generation: number): void => {
    if (generation < state.generation) {
      socket.send(JSON.stringify({ told: "fenced", generation: state.generation } satisfies KeeperLine));
      return socket.end();
    }
    if (host && host !== socket) {
      tell({ told: "fenced", generation });
      host.end();
    }
    host = socket;
    hostChanged();
    if (generation > state.generation) remember({ generation });
    tell({
      told: "attached",
      version: KEEPER_VERSION,
      pid: self.pid,
      agentPid: agent.agent.pid,
      inputEnd: inputs.end,
      exit: state.exit,
      unsure,
    });
  };

  const asked = (socket: LineSocket, line: HostLine): void => {
    if (line.verb === "attach") return attach(socket, line.generation);
    // Only who attached last is heard.
    if (socket !== host) return;
    if (line.verb === "input") return write({ key: line.key, line: line.line });
    if (line.verb === "linger") lingerMs = line.ms;
    if (line.verb === "leave" && state.exit) void end();
    if (line.verb !== "signal") return;
    if (line.signal !== "EOF") return agent.signalGroup(line.signal);
    remember({ ending: true });
    agent.closeInput();
  };

  const door = deps.listen(spec.socket, (socket) => ({
    line(text) {
      const line = parseLine<HostLine>(text, "verb");
      if (line) asked(socket, line);
    },
    closed() {
      if (socket !== host) return;
      host = undefined;
      aloneSince = clock.elapsed();
    },
  }));

  const listenAgain = (): void => {
    try {
      files.directory(dirname(spec.socket));
      door.listenAgain();
      log.warn("The name of our socket was gone; we listen there again");
    } catch (thrown) {
      // Tried again at the next tick; whoever is connected is heard meanwhile.
      log.warn(`Nobody can reach us at "${spec.socket}": ${thrown}`);
    }
  };
  const end = async (): Promise<void> => {
    if (state.exit) {
      // Whoever tells us to leave has swept by the tag; the rest only we can find.
      await sweepAll(clock, agent);
      return leave();
    }
    remember({ ending: true });
    await endProcess(clock, agent);
    // Its directory stays: the next host reads what was said last, and removes it.
    leave();
  };
  const lookForStrays = (): void => {
    try {
      const strays = agent.strays();
      if (JSON.stringify(strays) !== JSON.stringify(state.strays ?? [])) remember({ strays });
    } catch {
      // It cannot look just now.
    }
  };
  let ticks = 0;
  const tick = (): void => {
    cancel = clock.after(TICK_MS, tick);
    if (unwritten) remember({});
    if (ticks++ % LOOK_TICKS === 0) lookForStrays();
    try {
      agent.cutErrors();
    } catch {
      // No room, or nothing there.
    }
    const seen = door.look();
    // Another keeper has it: nothing of the agent is ours to end.
    if (seen === "taken") return leave();
    // Somebody tidied up: only a place that is gone was given up.
    const isThere = place.isThere();
    if (seen === "gone" && isThere) listenAgain();
    if (!isThere || (!host && clock.elapsed() - aloneSince > lingerMs)) {
      cancel();
      void end();
    }
  };
  // At once: it may have been given up while its agent was being started.
  let cancel = clock.after(0, tick);
  try {
    await over;
  } finally {
    cancel();
    door.close();
  }
}

// Who keeps agent processes running? One process per agent, however many ask; a death is told once and mended.
import { type AgentOutcome, type AgentStatus, nextAgentLife, statusOf } from "../core/agent-life.ts";
import type { Emitter } from "../core/emitter.ts";
import { endProcess } from "../keeper/ladder.ts";
import type { AgentExit, AgentProcess } from "../platform/agent-world.ts";
import { Fault, hostLeaves, messageOf } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";
import { type AgentEvents, type AgentManagerDeps, createSlot, type Slot, type Started } from "./agent-slot.ts";
import { notInstalled, notStarted, type StartFailure } from "./start-failure.ts";

const DETAIL_LINES = 10;

export class AgentManager {
  readonly #emitter: Emitter<AgentEvents>;
  readonly #deps: AgentManagerDeps;
  readonly #slots = new Map<string, Slot>();
  #over = false;

  constructor(emitter: Emitter<AgentEvents>, deps: AgentManagerDeps) {
    this.#emitter = emitter;
    this.#deps = deps;
  }

  getStatus(name: string): AgentStatus {
    return statusOf(this.#slot(name).life);
  }

  /** The running client, if there is one now. */
  current(name: string): AcpClient | undefined {
    return this.#slot(name).current?.client;
  }

  stderr(name: string): readonly string[] {
    return this.#slot(name).stderr();
  }

  pid(name: string): number | undefined {
    return this.#slot(name).current?.process.pid;
  }

  ensureAgent(name: string): Promise<AcpClient> {
    if (this.#over) return Promise.reject(hostLeaves());
    const slot = this.#slot(name);
    if (slot.current && slot.life.state === "connected") return Promise.resolve(slot.current.client);
    if (slot.coming) return slot.coming.then(() => this.ensureAgent(name));
    return slot.starting ?? this.#start(name, slot, { kind: "wanted" });
  }

  /** An earlier host left one, and it may still answer: nobody starts a second one meanwhile. */
  expect(name: string, coming: Promise<void>): void {
    const slot = this.#slot(name);
    const both = Promise.all([slot.coming, coming]).then(() => {
      if (slot.coming === both) slot.coming = undefined;
    });
    slot.coming = both;
  }

  /** Goes on with a process that an earlier host left, unless there is another one. */
  adopt(name: string, started: Started): void {
    const slot = this.#slot(name);
    if (slot.current || slot.starting) return this.bury(name, started);
    this.#move(name, slot, { kind: "wanted" });
    slot.starting = this.#handshake(name, slot, started).finally(() => {
      slot.starting = undefined;
    });
    slot.starting.catch(() => undefined);
  }

  /** Sees a process to its end that an earlier host left, dead or told to die. */
  bury(name: string, dead: Started): void {
    const slot = this.#slot(name);
    void dead.process.exited.then((exit) => this.#exited(name, slot, dead, exit));
    slot.ending = Promise.all([slot.ending, this.#finish(name, dead)]).then(() => undefined);
  }

  processOf(name: string): AgentProcess | undefined {
    return this.#slot(name).current?.process;
  }

  async reconnect(name: string): Promise<void> {
    const slot = this.#slot(name);
    await slot.coming;
    if (this.#over) throw hostLeaves();
    const { current, starting } = slot;
    slot.current = undefined;
    if (current) void this.#end(name, slot, current, new Error("Reconnecting"));
    // The start that is under way is a fresh one already: a second would be a second process.
    if (starting) this.#move(name, slot, { kind: "reconnect" });
    await (starting ?? this.#start(name, slot, { kind: "reconnect" }));
  }

  /** Ends one agent's process; the next `ensureAgent` starts it again. */
  async stop(name: string): Promise<void> {
    const slot = this.#slot(name);
    slot.giveUp();
    await slot.starting?.catch(() => undefined);
    slot.cancelWait();
    const { current } = slot;
    slot.current = undefined;
    this.#move(name, slot, { kind: "stopped" });
    if (current) await this.#end(name, slot, current, new Error("The agent was stopped"));
    await slot.ending;
  }

  async shutdownAll(names: readonly string[] = [...this.#slots.keys()]): Promise<void> {
    this.#over = true;
    await Promise.all(names.map((name) => this.stop(name)));
  }

  /** No more starts, and no more ends but of these: what runs is another host's. */
  leave(ending: readonly string[] = []): void {
    this.#over = true;
    for (const [name, slot] of this.#slots) {
      slot.cancelWait();
      if (ending.includes(name)) continue;
      slot.isReleased = true;
      slot.giveUp();
      slot.newest?.process.kept?.release();
      // Nobody waits for its answers any more: whoever adopts it does.
      slot.newest?.client.end(hostLeaves());
      slot.current = undefined;
    }
  }

  names(): string[] {
    return [...this.#slots.keys()];
  }

  #slot(name: string): Slot {
    const slot = this.#slots.get(name) ?? createSlot();
    this.#slots.set(name, slot);
    return slot;
  }

  #tell(cliType: string, status: AgentStatus): void {
    this.#emitter.emit("agent:status", { cliType, status });
  }

  /** `told` is what the outside believes now. */
  #move(name: string, slot: Slot, outcome: AgentOutcome, told = statusOf(slot.life)): void {
    slot.life = nextAgentLife(slot.life, outcome);
    const status = statusOf(slot.life);
    if (status !== told) this.#tell(name, status);
    if (slot.life.state === "waiting") {
      slot.cancelWait = this.#deps.clock.after(slot.life.ms, () => {
        this.#start(name, slot, { kind: "waited" }).catch(() => undefined);
      });
    }
  }

  #start(name: string, slot: Slot, outcome: AgentOutcome): Promise<AcpClient> {
    slot.cancelWait();
    this.#move(name, slot, outcome);
    slot.starting = this.#connect(name, slot).finally(() => {
      slot.starting = undefined;
    });
    return slot.starting;
  }

  async #connect(name: string, slot: Slot): Promise<AcpClient> {
    const display = this.#deps.displayName(name);
    const stopped = new Fault("REFUSED", `${display} was stopped`, { agent: name });
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    slot.giveUp = () => reject(stopped);
    // The last process is gone before the next one begins: two of them could hold the same session.
    await Promise.race([slot.ending, givenUp]);
    if (this.#over) throw hostLeaves();
    const started = this.#spawn(name, slot, display);
    return await this.#handshake(name, slot, started, givenUp);
  }

  async #handshake(name: string, slot: Slot, started: Started, givenUp?: Promise<never>): Promise<AcpClient> {
    const display = this.#deps.displayName(name);
    const { process, client } = started;
    slot.stderr = process.stderr;
    slot.newest = started;
    try {
      await Promise.race([client.initialize(), died(process), ...(givenUp ? [givenUp] : [])]);
      if (slot.isReleased) throw hostLeaves();
    } catch (thrown) {
      if (slot.isReleased) throw hostLeaves();
      void this.#end(name, slot, started, new Error("The handshake failed"));
      if (thrown instanceof Fault && thrown.code === "REFUSED") throw thrown;
      const detail = [messageOf(thrown), lastLines(process)].filter(Boolean).join("\n");
      throw this.#failed(name, slot, { message: `Could not connect to ${display}`, detail });
    }
    slot.current = started;
    this.#move(name, slot, { kind: "connected", now: this.#deps.clock.elapsed() });
    void process.exited.then((exit) => this.#exited(name, slot, started, exit));
    this.#emitter.emit("agent:connected", { cliType: name, client });
    return client;
  }

  #spawn(name: string, slot: Slot, display: string): Started {
    let started: ReturnType<AgentManagerDeps["start"]>;
    try {
      started = this.#deps.start(name);
    } catch (thrown) {
      throw this.#failed(name, slot, notStarted(display, thrown));
    }
    if (started.kind === "started") return started;
    throw this.#failed(name, slot, notInstalled(display, started.install));
  }

  #failed(name: string, slot: Slot, { message, detail, code = "AGENT_FAILED" }: StartFailure): Fault {
    this.#emitter.emit("error", { cliType: name, message, detail });
    this.#move(name, slot, { kind: "start-failed" });
    return new Fault(code, `${message}\n${detail}`, { agent: name, detail });
  }

  #exited(name: string, slot: Slot, dead: Started, exit: AgentExit): void {
    dead.client.end(new Fault("AGENT_LOST", `${this.#deps.displayName(name)} ${describeExit(exit)}`, { agent: name }));
    const unasked = slot.current === dead;
    if (unasked) {
      slot.current = undefined;
      // What it left behind would hold the pipes, or the sessions.
      slot.ending = this.#finish(name, dead);
      this.#tell(name, "disconnected");
    }
    const detail = lastLines(dead.process);
    this.#emitter.emit("agent:exited", { cliType: name, client: dead.client, exit, detail });
    if (unasked) this.#move(name, slot, { kind: "exited", now: this.#deps.clock.elapsed() }, "disconnected");
  }

  #end(name: string, slot: Slot, { process, client }: Started, reason: Error): Promise<void> {
    slot.ending = this.#finish(name, { process, client }).then(() => client.end(reason));
    return slot.ending;
  }

  async #finish(name: string, { process }: Started): Promise<void> {
    await endProcess(this.#deps.clock, process);
    // While the disk is full its last words are nowhere else: the next host reads them again.
    if (this.#deps.isWritten?.(name) === false) process.kept?.release();
    else process.kept?.forget();
  }
}

/** Nobody saw it where its keeper had been killed before. */
const describeExit = ({ code, signal }: AgentExit): string => {
  if (signal) return `exited with signal ${signal}`;
  return code === null ? "exited, and nobody saw how" : `exited with code ${code}`;
};

const lastLines = (process: AgentProcess): string => process.stderr().slice(-DETAIL_LINES).join("\n");

const died = (process: AgentProcess): Promise<never> =>
  process.exited.then((exit) => {
    throw new Error(`It ${describeExit(exit)} during the handshake`);
  });

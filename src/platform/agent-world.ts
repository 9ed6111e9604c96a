// What may be asked of agent processes and of those that keep them? Real in `agents.ts` and `keeper.ts`, fake in tests.

export interface AgentExit {
  /** Both null: nobody saw how it ended. */
  code: number | null;
  signal: string | null;
}

export interface AgentCommand {
  /** Its name, as people call it. */
  agent: string;
  /** This life of it. */
  run: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
}

export interface AgentProcessEvents {
  /** A piece of its stdout, in order. */
  output(bytes: Uint8Array): void;
  /** It may or may not have got these: they are never sent again. */
  unsure?(keys: readonly string[]): void;
}

/** An agent in a process group of its own; its tag is in the environment of everything it starts. */
export interface AgentProcess {
  readonly pid: number;
  /** Under the same key a line is written once, whoever hosts. */
  write(line: string, key?: string): void;
  closeInput(): void;
  signalGroup(signal: "SIGTERM" | "SIGKILL"): void;
  /** Ends what still carries the tag, and tells how many that were. */
  sweep(): number;
  readonly exited: Promise<AgentExit>;
  /** The last lines of its stderr. */
  stderr(): readonly string[];
  /** Absent where an agent dies with its host. */
  readonly kept?: KeptAgent;
}

/** What a host does for the next one. */
export interface KeptAgent {
  readonly keeperPid: number;
  /** How far its input stands in the keeper's log; undefined while something is on its way. */
  readonly inputEnd: number | undefined;
  /** Replaced as one; the next host begins from there. */
  checkpoint(text: string): void;
  /** So long it stays without a host. */
  linger(ms: number): void;
  /** What lies in front of these offsets is needed no more. False: its room cannot be given back while it lives. */
  giveBack(out: number, input: number): Promise<boolean>;
  /** This host leaves; the agent does not. */
  release(): void;
  /** It is gone, and all it said stands elsewhere: nothing of it is needed any more. */
  forget(): void;
}

/** An agent that an earlier host left. */
export interface LeftAgent {
  agent: string;
  run: string;
  /** Resolves when it is ours, which fences the earlier host, or gone. What follows is true then, and not before. */
  readonly taken: Promise<void>;
  /** Gone: only what it said last is there to be read. */
  readonly isGone: boolean;
  /** It was told to end: it is only to be seen to its end. */
  readonly isEnding: boolean;
  readonly checkpoint: string | undefined;
  /** What was written to it behind an offset of its input's log. */
  inputs(from: number): { key: string; line: string }[];
  /** Its output is told from this offset on. */
  adopt(offset: number, events: AgentProcessEvents): AgentProcess;
  /** It cannot be used: it is ended by force, and its files are removed. */
  abandon(): Promise<void>;
}

/** The right to write what a port's hosts leave to each other. */
export interface Generation {
  /** A newer host has a higher one. */
  readonly number: number;
  /** Whether this host still has it; looked up again after a second. */
  holds(): boolean;
  /** Looked up now, also by a host that has left: there may be nobody after it. */
  isNewest(): boolean;
  /** This host leaves: from now on nothing is written. */
  giveUp(): void;
  /** A newer host was found: told once, and never after `giveUp`. */
  onLost(tell: () => void): void;
}

export interface Keepers {
  /** Of this host; a newer one has a higher number. */
  readonly generation: number;
  /** Those that earlier hosts left; each is being taken over, until the signal says that this host leaves. */
  left(signal: AbortSignal): LeftAgent[];
  /** Ends what is still in the directory and was never taken over; returns what could not be ended, and why. */
  endOthers(): Promise<string[]>;
  /** A newer host has them: told once. */
  onFenced(tell: () => void): void;
}

export type SpawnAgent = (
  command: AgentCommand,
  events: AgentProcessEvents,
) => { kind: "started"; process: AgentProcess } | { kind: "missing"; command: string };

/** Unknown: it could not be looked at, as where there are no descriptors left. */
export type Life = "alive" | "dead" | "unknown";

export interface ProcessMark {
  pid: number;
  startTime: string;
}

export interface HeldCommand {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  tag: string;
}

export interface HeldMarks {
  agent: ProcessMark;
  /** Holds its input open. */
  holder: ProcessMark;
}

/** An agent as its keeper sees it. */
export interface HeldAgent extends HeldMarks {
  /** Resolves when the agent has taken it, however long that takes. */
  write(text: string): Promise<void>;
  closeInput(): void;
  signalGroup(signal: "SIGTERM" | "SIGKILL"): void;
  sweep(): number;
  /** What it started that neither its group nor its tag would find. */
  strays(): readonly ProcessMark[];
  readonly exited: Promise<AgentExit>;
  cutErrors(): void;
}

export interface LineSocket {
  send(line: string): void;
  /** Behind what was sent. */
  end(): void;
}

export interface LineEvents {
  line(line: string): void;
  closed(): void;
}

export interface LineDoor {
  /** "taken": somebody else listens there now; "gone": nobody can. */
  look(): "ours" | "taken" | "gone";
  /** Its name is gone: it gets it back. */
  listenAgain(): void;
  /** Somebody else's stays. */
  close(): void;
}

export type LineConnected = { kind: "open"; socket: LineSocket } | { kind: "refused" };

export interface Tail {
  /** Up to where it was told. */
  readonly offset: number;
  /** Everything that is there now. */
  drain(): void;
  stop(): void;
}

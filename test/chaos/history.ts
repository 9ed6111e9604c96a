// What happened, and when? Commands with their ends, faults with their victims, hosts with their promotions, in one clock.

export interface SeenEvent {
  seq: number;
  /** First of a range, where texts were merged. */
  from?: number;
  at: string;
  type: string;
  data: Record<string, unknown>;
}

/** What a command was meant to do, as far as somebody checks it. */
export interface About {
  session?: string;
  /** The prompt, unique in the whole run. */
  text?: string;
  /** Behind which number it follows. */
  after?: number;
  /** Appended to a file by the plugin. */
  token?: string;
  timeoutMs?: number;
  /** With few descriptors, or a clock of its own. */
  crippled?: boolean;
  /** Its own sender cancelled it. */
  isCancelled?: boolean;
  /** What an editor saw instead of the whole answer. */
  saw?: string;
  /** Exactly what stdout must be behind exit code 0. */
  prints?: string;
}

export interface Command {
  readonly id: number;
  /** Its verb, with `standby` and `attach` as kinds of their own. */
  readonly kind: string;
  readonly words: readonly string[];
  readonly pid: number;
  readonly at: number;
  readonly about: About;
  endedAt?: number;
  code: number | null;
  signal: string | null;
  out: string;
  err: string;
  readonly events: SeenEvent[];
  /** Signals that we sent. */
  readonly told: { at: number; signal: string }[];
  /** It had not ended when its time was over. */
  isHung?: boolean;
}

export interface FaultDone {
  at: number;
  /** When it was over: a freeze, a full disk. */
  until: number;
  name: string;
  /** What it did to whom: `kill host`, `freeze keeper`. */
  what: string;
  pid?: number;
}

export interface Promotion {
  at: number;
  pid: number;
  who: string;
}

export interface History {
  readonly commands: Command[];
  readonly faults: FaultDone[];
  readonly promotions: Promotion[];
  /** Anything else that a story needs. */
  readonly notes: { at: number; text: string }[];
  note(text: string): void;
  fault(done: Omit<FaultDone, "at" | "until"> & { until?: number }): FaultDone;
}

export function createHistory(): History {
  const history: History = {
    commands: [],
    faults: [],
    promotions: [],
    notes: [],
    note: (text) => void history.notes.push({ at: Date.now(), text }),
    fault(done) {
      const at = Date.now();
      const fault = { until: at, ...done, at };
      history.faults.push(fault);
      return fault;
    },
  };
  return history;
}

export interface Violation {
  /** A word that the summary counts by. */
  kind:
    | "lost"
    | "doubled"
    | "double writer"
    | "differing view"
    | "undocumented exit"
    | "hung"
    | "trace"
    | "orphan"
    | "two hosts";
  text: string;
  /** Around this time the story is told. */
  at: number;
  session?: string;
}

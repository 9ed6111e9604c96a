// What do a host and a keeper say to each other? Five verbs, and they never change: any binary may meet any other.

export const KEEPER_VERSION = 1;

export type HostLine =
  /** First of all. Whoever has the highest generation is the host. */
  | { verb: "attach"; version: number; generation: number }
  /** Written to the agent once, however often it is asked. */
  | { verb: "input"; key: string; line: string }
  | { verb: "signal"; signal: "EOF" | "SIGTERM" | "SIGKILL" }
  /** So long the keeper stays without a host. */
  | { verb: "linger"; ms: number }
  /** Of an agent that is gone: everything of it was read. */
  | { verb: "leave" };

export interface Exit {
  code: number | null;
  signal: string | null;
}

export type KeeperLine =
  | {
      told: "attached";
      version: number;
      pid: number;
      agentPid: number;
      inputEnd: number;
      exit: Exit | null;
      /** Recorded by an earlier keeper, which did not live to say that they were written. */
      unsure: string[];
    }
  | { told: "fenced"; generation: number }
  | { told: "taken"; key: string; end: number }
  /** Nothing was recorded, nothing was written: ask again. */
  | { told: "refused"; key: string; why: string }
  | { told: "exited"; exit: Exit };

/** Undefined: not for us, or from somebody newer. */
export function parseLine<Line extends HostLine | KeeperLine>(text: string, tag: "verb" | "told"): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const fits = typeof value === "object" && value !== null && tag in value;
    return fits ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

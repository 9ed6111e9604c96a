// How does an agent process live, die and come back? A crash loop ends; a connection that held starts counting anew.

export type AgentStatus = "idle" | "starting" | "connected" | "disconnected" | "reconnecting";

export type AgentLife =
  | { state: "idle" }
  | { state: "starting"; attempts: number; retry: boolean }
  | { state: "connected"; attempts: number; since: number }
  | { state: "waiting"; attempts: number; ms: number }
  | { state: "disconnected" };

export type AgentOutcome =
  /** Somebody needs the agent now. */
  | { kind: "wanted" }
  | { kind: "connected"; now: number }
  | { kind: "start-failed" }
  | { kind: "exited"; now: number }
  | { kind: "waited" }
  /** A person asks for it: counting starts anew. */
  | { kind: "reconnect" }
  | { kind: "stopped" };

export const MAX_ATTEMPTS = 5;
export const HELD_MS = 10_000;
const CAP_MS = 30_000;
const FIRST_MS = 1_000;

export const retryMs = (attempt: number): number => Math.min(FIRST_MS * 2 ** (attempt - 1), CAP_MS);

export const statusOf = (life: AgentLife): AgentStatus => {
  if (life.state === "waiting") return "reconnecting";
  if (life.state === "starting") return life.retry ? "reconnecting" : "starting";
  return life.state;
};

const tryLater = (attempts: number): AgentLife =>
  attempts < MAX_ATTEMPTS
    ? { state: "waiting", attempts: attempts + 1, ms: retryMs(attempts + 1) }
    : { state: "disconnected" };

export function nextAgentLife(life: AgentLife, outcome: AgentOutcome): AgentLife {
  if (outcome.kind === "stopped") return { state: "idle" };
  if (outcome.kind === "reconnect") return { state: "starting", attempts: 0, retry: true };
  switch (life.state) {
    case "idle":
    case "disconnected":
      if (outcome.kind === "wanted") return { state: "starting", attempts: 0, retry: false };
      break;
    case "waiting":
      if (outcome.kind === "wanted" || outcome.kind === "waited") {
        return { state: "starting", attempts: life.attempts, retry: true };
      }
      break;
    case "starting":
      if (outcome.kind === "connected") return { state: "connected", attempts: life.attempts, since: outcome.now };
      if (outcome.kind === "start-failed") return life.retry ? tryLater(life.attempts) : { state: "disconnected" };
      break;
    case "connected":
      if (outcome.kind === "exited") return tryLater(outcome.now - life.since >= HELD_MS ? 0 : life.attempts);
      break;
  }
  throw new Error(`An agent cannot go from "${life.state}" by "${outcome.kind}"`);
}

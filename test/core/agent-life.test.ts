// Is the life of an agent decided right? Every state with every outcome, and the waits between.
import { describe, expect, test } from "bun:test";
import {
  type AgentLife,
  type AgentOutcome,
  HELD_MS,
  MAX_ATTEMPTS,
  nextAgentLife,
  retryMs,
  statusOf,
} from "../../src/core/agent-life.ts";

const LIVES: readonly AgentLife[] = [
  { state: "idle" },
  { state: "starting", attempts: 2, retry: false },
  { state: "starting", attempts: 2, retry: true },
  { state: "connected", attempts: 2, since: 100 },
  { state: "waiting", attempts: 2, ms: 2_000 },
  { state: "disconnected" },
];

const OUTCOMES: readonly AgentOutcome[] = [
  { kind: "wanted" },
  { kind: "connected", now: 500 },
  { kind: "start-failed" },
  { kind: "exited", now: 500 },
  { kind: "waited" },
  { kind: "reconnect" },
  { kind: "stopped" },
];

const says = (life: AgentLife, outcome: AgentOutcome): string => {
  try {
    const next = nextAgentLife(life, outcome);
    return "attempts" in next ? `${statusOf(next)} ${next.attempts}` : statusOf(next);
  } catch {
    return "-";
  }
};

describe("an agent's life", () => {
  test("[AM1] [AM4] [AM6] every state goes where the table says, and impossible pairs throw", () => {
    const table = LIVES.map((life) => OUTCOMES.map((outcome) => says(life, outcome)).join(" | "));
    expect(table).toEqual([
      "starting 0 | - | - | - | - | reconnecting 0 | idle",
      "- | connected 2 | disconnected | - | - | reconnecting 0 | idle",
      "- | connected 2 | reconnecting 3 | - | - | reconnecting 0 | idle",
      "- | - | - | reconnecting 3 | - | reconnecting 0 | idle",
      "reconnecting 2 | - | - | - | reconnecting 2 | reconnecting 0 | idle",
      "starting 0 | - | - | - | - | reconnecting 0 | idle",
    ]);
  });

  test("[AM4] the waits are 1, 2, 4, 8, 16 s, and never more than 30", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 50].map(retryMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });

  test("[AM4] a wait carries its own length", () => {
    expect(nextAgentLife({ state: "connected", attempts: 3, since: 0 }, { kind: "exited", now: 1 })).toEqual({
      state: "waiting",
      attempts: 4,
      ms: 8_000,
    });
  });

  test("[AM4] the sixth death or failure in a row is the last", () => {
    const exited: AgentOutcome = { kind: "exited", now: 1 };
    expect(nextAgentLife({ state: "connected", attempts: MAX_ATTEMPTS, since: 0 }, exited)).toEqual({
      state: "disconnected",
    });
    const failed: AgentOutcome = { kind: "start-failed" };
    expect(nextAgentLife({ state: "starting", attempts: MAX_ATTEMPTS, retry: true }, failed)).toEqual({
      state: "disconnected",
    });
  });

  test("[AM5] a handshake alone does not set the attempts back; 10 s of connection do, at exactly 10 s", () => {
    const connected = nextAgentLife({ state: "starting", attempts: 4, retry: true }, { kind: "connected", now: 1_000 });
    expect(connected).toEqual({ state: "connected", attempts: 4, since: 1_000 });
    const diesAt = (now: number) => nextAgentLife(connected, { kind: "exited", now });
    expect(diesAt(1_000 + HELD_MS - 1)).toMatchObject({ state: "waiting", attempts: 5 });
    expect(diesAt(1_000 + HELD_MS)).toMatchObject({ state: "waiting", attempts: 1, ms: 1_000 });
  });
});

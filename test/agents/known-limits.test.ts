// Are known limits and bugs of adapters met before they hurt?
import { describe, expect, test } from "bun:test";
import { TORN_MS } from "../../src/agents/torn-output.ts";
import { initialized } from "./fake-agent.ts";
import { endTurn, midTurn, openService } from "./service-world.ts";

const MINUTE = 60_000;

describe("prompts that an adapter refuses", () => {
  test("[KP11] codex: over 1,048,576 characters is said before anything is sent, with the remedy; just that many go", () => {
    const { client, agents } = openService();
    const asker = client();
    expect(() => asker.prompt("x".repeat(1_048_577), { agent: "codex" })).toThrow(
      "Codex takes prompts of 1048576 characters at most, and this one has 1048577; put it into a file and name that",
    );
    expect(agents.all).toEqual([]);
    expect(() => asker.prompt("x".repeat(1_048_576), { agent: "codex" })).not.toThrow();
    expect(() => asker.prompt("x".repeat(1_048_577), { agent: "claude-code" })).not.toThrow();
  });
});

describe("sessions that an adapter loses", () => {
  const LOAD = { replies: { initialize: () => initialized({ loadSession: true }) } };
  const minuteOf = (ms: number): number => Math.floor(ms / MINUTE);

  function loadedAfterDeath(agent: string) {
    const world = midTurn(LOAD, { agent });
    const { agents, machine, viewer } = world;
    endTurn(world, viewer);
    const openedAt = Date.parse(viewer.of("session-opened")[0]?.at ?? "");
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 2 && agents.latest.asked("session/load").length === 1);
    return { openedAt, world };
  }

  test("[KP11] gemini: a session made in this UTC minute is loaded in the next one", () => {
    const { openedAt, world } = loadedAfterDeath("gemini");
    const { machine, viewer, agents } = world;
    agents.latest.answer("session/load", { result: {} });
    machine.until(() => viewer.of("restored").length === 1);
    expect(minuteOf(Date.parse(viewer.of("restored")[0]?.at ?? ""))).toBeGreaterThan(minuteOf(openedAt));
  });

  test("[KP11] others do not wait for that", () => {
    const { openedAt, world } = loadedAfterDeath("claude-code");
    const { machine, viewer, agents } = world;
    agents.latest.answer("session/load", { result: {} });
    machine.until(() => viewer.of("restored").length === 1);
    expect(Date.parse(viewer.of("restored")[0]?.at ?? "") - openedAt).toBeLessThan(MINUTE / 2);
  });
});

describe("output that ends in the middle of a line", () => {
  const half = (text: string): Uint8Array => Buffer.from(text);

  test("[KP9] silent with a turn pending: the agent is started again and the turn told as unknown", () => {
    const { agents, machine, viewer } = midTurn();
    agents.latest.bytes(half('{"jsonrpc":"2.0","method":"sess'));
    machine.advance(TORN_MS - 1);
    expect(agents.all).toHaveLength(1);
    machine.until(() => viewer.of("turn-ended").length === 1);
    expect(viewer.of("turn-ended")[0]?.data).toMatchObject({ stopReason: "lost", code: "AGENT_LOST" });
    machine.until(() => agents.all.length === 2);
  });

  test("[KP9] a slow line that goes on is no torn one, and without a turn nobody waits", () => {
    const world = midTurn();
    const { agents, machine, acpId, viewer } = world;
    const line = JSON.stringify({
      jsonrpc: "2.0",
      method: "session/update",
      params: {
        sessionId: acpId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "slow" } },
      },
    });
    for (let at = 0; at < line.length; at += 20) {
      agents.latest.bytes(half(line.slice(at, at + 20)));
      machine.advance(TORN_MS / 2);
    }
    agents.latest.bytes(half("\n"));
    machine.advance(TORN_MS * 2);
    expect(agents.all).toHaveLength(1);
    expect(viewer.of("update")).toHaveLength(1);
    endTurn(world, viewer);
    agents.latest.bytes(half("half"));
    machine.advance(TORN_MS * 3);
    expect(agents.all).toHaveLength(1);
  });
});

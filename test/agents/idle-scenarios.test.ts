// What happens to a session when its last client has left? Every case that the design names, on a virtual clock.
import { describe, expect, test } from "bun:test";
import { HOUR, type IdleWorld, MINUTE, openIdleWorld, SECOND } from "./idle-world.ts";

/** A session with a turn in progress, which its client leaves now. */
function leftWorking(text = "one"): IdleWorld {
  const world = openIdleWorld();
  world.prompt(text);
  world.attach();
  world.leave();
  return world;
}

/** The agent says something now and then. */
function advanceTalking(world: IdleWorld, text: string, ms: number, everyMs: number): void {
  for (let left = ms; left > 0; left -= everyMs) {
    world.machine.advance(Math.min(left, everyMs));
    world.say(text);
  }
}

const stopped = (world: IdleWorld, session?: string) => world.record("idle-stopped", session)?.data;
const heard = (world: IdleWorld) => world.agents.latest.heard.flatMap(({ method }) => method ?? []);

describe("the eight cases of the seed", () => {
  test("[ID1] it finishes while nobody looks, and a client comes a minute later: the grace runs, the process lives", () => {
    const world = leftWorking();
    world.machine.advance(6 * MINUTE);
    world.finish("one");
    world.machine.advance(MINUTE);
    expect(world.idle()).toMatchObject({ verdict: "stops", reason: "stops in 4 m: grace after turn" });
    world.attach("ann");
    world.machine.advance(HOUR);
    expect([stopped(world), world.agents.running.length]).toEqual([undefined, 1]);
  });

  test("[ID1] it finishes just before the first check: it has its grace nevertheless", () => {
    const world = leftWorking();
    world.machine.advance(5 * MINUTE - SECOND);
    world.finish("one");
    world.machine.advance(MINUTE);
    expect([stopped(world), world.agents.running.length]).toEqual([undefined, 1]);
    world.machine.advance(4 * MINUTE);
    expect(stopped(world)).toMatchObject({ idleMs: 10 * MINUTE - SECOND });
  });

  test("[ID1] it finishes while nobody looks, and nobody comes: stopped when the grace is over", () => {
    const world = leftWorking();
    world.machine.advance(6 * MINUTE);
    world.finish("one");
    world.machine.advance(5 * MINUTE - 1);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(1);
    expect(stopped(world)).toMatchObject({ reason: "idle for 11 m", idleMs: 11 * MINUTE });
    expect(world.agents.running).toEqual([]);
  });

  test("[GD2] it is stuck in mid-turn without a word for 10 minutes: stopped at the next check, as stalled", () => {
    const world = leftWorking();
    world.machine.advance(3 * MINUTE);
    world.say("one");
    world.machine.advance(10 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(30 * SECOND);
    expect(stopped(world)).toMatchObject({ reason: "stalled: no output for 10 m 30 s" });
    expect(JSON.stringify(world.records())).not.toContain("grace");
  });

  test("[ID2] it never falls silent and never ends: the cap stops it", () => {
    const world = leftWorking();
    advanceTalking(world, "one", 30 * MINUTE, 5 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(1);
    expect(stopped(world)).toMatchObject({ reason: "idle for more than 30 m, the longest allowed" });
  });

  test("[ID9] the process dies in mid-turn: the turn is over, and the usual idle time runs", () => {
    const world = leftWorking();
    world.machine.advance(6 * MINUTE);
    world.agents.latest.exit(1);
    world.machine.advance(2 * SECOND);
    expect(world.record("turn-ended")?.data).toMatchObject({ stopReason: "lost" });
    expect(world.idle().reason).toBe("stops in 4 m 58 s: grace after turn");
    world.machine.advance(5 * MINUTE);
    // The next process never had it open: it only lay there.
    expect([world.idle().verdict, stopped(world)]).toEqual(["stopped", undefined]);
    expect(world.agents.running).toEqual([]);
  });

  test("[ID8] a client comes back between two checks: nothing is stopped, and the next idle time is a new one", () => {
    const world = leftWorking();
    advanceTalking(world, "one", 29 * MINUTE, MINUTE);
    world.attach();
    world.machine.advance(MINUTE);
    world.leave();
    advanceTalking(world, "one", 30 * MINUTE, MINUTE);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(1);
    expect(stopped(world)).toMatchObject({ idleMs: 30 * MINUTE + 1 });
  });

  test("[ID1] a result flickers: the grace begins, work goes on, and it is kept again", () => {
    const world = leftWorking();
    world.machine.advance(6 * MINUTE);
    world.finish("one");
    expect(world.idle().reason).toBe("stops in 5 m: grace after turn");
    world.machine.advance(SECOND);
    world.say("one", { sessionUpdate: "tool_call", toolCallId: "t", title: "Compact", status: "in_progress" });
    expect(world.idle().verdict).toBe("kept");
    world.machine.advance(10 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    expect(world.record("idle-checked")?.data).toMatchObject({ guardDeferred: true });
  });

  test("[ID9] many tools in one turn: it stays in progress until its result", () => {
    const world = leftWorking();
    for (let call = 0; call < 25; call++) {
      const toolCallId = `t${call}`;
      world.say("one", { sessionUpdate: "tool_call", toolCallId, title: "Test", status: "in_progress" });
      world.machine.advance(MINUTE);
      world.say("one", { sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
      expect(world.idle().reason).toBe("kept: turn in progress, last output 0 s ago");
    }
    world.finish("one");
    expect(world.idle().verdict).toBe("stops");
  });
});

describe("and the rest of the list", () => {
  test("[GD1] a prompt after 20 minutes of silence is not judged by the turn before it", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.attach();
    world.finish("one");
    world.machine.advance(20 * MINUTE);
    world.prompt("two");
    world.leave();
    world.machine.advance(6 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    expect(world.idle().reason).toBe("kept: turn in progress, started 6 m ago");
  });

  test("[GD1] a healthy turn of 29 minutes ends by itself", () => {
    const world = leftWorking();
    advanceTalking(world, "one", 29 * MINUTE, 30 * SECOND);
    world.finish("one");
    expect(world.record("turn-ended")?.data).toMatchObject({ stopReason: "end_turn" });
    expect(stopped(world)).toBeUndefined();
    expect(heard(world)).not.toContain("session/cancel");
  });

  test("[ID3] the cap inside a grace: the grace ends with it", () => {
    const world = leftWorking();
    advanceTalking(world, "one", 28 * MINUTE, MINUTE);
    world.finish("one");
    expect(world.idle()).toMatchObject({ reason: "stops in 2 m 1 s: grace after turn", dueInMs: 2 * MINUTE + 1 });
    world.machine.advance(2 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(1);
    expect(stopped(world)).toMatchObject({ idleMs: 30 * MINUTE + 1 });
  });

  test("[ID2] exactly at the cap it is kept", () => {
    const world = leftWorking();
    advanceTalking(world, "one", 30 * MINUTE, MINUTE);
    expect(world.idle()).toMatchObject({ verdict: "kept", capInMs: 1 });
    expect(stopped(world)).toBeUndefined();
  });

  test("[ID7] eight hours of sleep count as one tick: the turn is not stalled, the cap is not reached", () => {
    const world = leftWorking();
    world.machine.advance(6 * MINUTE);
    world.say("one");
    world.process.freeze();
    world.machine.advance(8 * HOUR);
    world.process.thaw();
    world.machine.advance(2 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    expect(world.idle().reason).toMatch(/^kept: turn in progress, last output 2 m( \d+ s)? ago$/);
    expect(world.record("idle-checked")?.data["idleMs"]).toBeWithin(8 * MINUTE - 1, 9 * MINUTE);
    world.finish("one");
    world.machine.advance(5 * MINUTE);
    expect(stopped(world)?.["idleMs"]).toBeWithin(13 * MINUTE, 14 * MINUTE);
  });

  test("[ID7] a session that was left right before the sleep is not stopped at waking", () => {
    const world = leftWorking();
    world.finish("one");
    world.process.freeze();
    world.machine.advance(8 * HOUR);
    world.process.thaw();
    world.machine.advance(4 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(MINUTE);
    expect(stopped(world)).toBeDefined();
  });

  test("[GD5] a turn ends while a tool call is in progress: kept until that ends, and a grace from then on", () => {
    const world = leftWorking();
    world.say("one", { sessionUpdate: "tool_call", toolCallId: "t", title: "Tests", status: "in_progress" });
    world.finish("one");
    world.machine.advance(20 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    expect(world.idle().reason).toBe("kept: 1 tool call in progress after the turn");
    world.say("one", { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
    world.machine.advance(30 * SECOND);
    expect(world.idle().reason).toMatch(/^stops in [45] m.*: grace after tool call$/);
    world.machine.advance(5 * MINUTE);
    expect(stopped(world)).toBeDefined();
  });

  test("[GD3] two prompts queued: kept through both, and a grace behind the last", () => {
    const world = openIdleWorld();
    for (const text of ["one", "two", "three"]) world.prompt(text);
    world.attach();
    world.leave();
    expect(world.idle().reason).toBe("kept: turn in progress, started 0 s ago; 2 prompts queued");
    for (const text of ["one", "two"]) {
      world.machine.advance(6 * MINUTE);
      world.finish(text);
      expect(world.idle().verdict).toBe("kept");
    }
    world.machine.advance(6 * MINUTE);
    world.finish("three");
    expect(stopped(world)).toBeUndefined();
    expect(world.idle().reason).toBe("stops in 5 m: grace after turn");
  });

  test("[GD4] a question to a person keeps a silent turn, until the cap", () => {
    const world = openIdleWorld();
    world.prompt("one", { policy: "ask" });
    world.attach();
    const { agent, sessionId } = {
      agent: world.agents.latest,
      sessionId: world.record("session-opened")?.data["acpSessionId"],
    };
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const params = { sessionId, toolCall: { toolCallId: "t" }, options };
    agent.say({ jsonrpc: "2.0", id: "ask", method: "session/request_permission", params });
    world.machine.advance(0);
    world.leave();
    world.machine.advance(29 * MINUTE);
    expect(world.idle().reason).toStartWith("kept: 1 permission request without an answer");
    world.machine.advance(MINUTE + 1);
    expect(stopped(world)).toMatchObject({ idleMs: 30 * MINUTE + 1 });
    expect(agent.heard.find(({ id }) => id === "ask")?.result).toEqual({ outcome: { outcome: "cancelled" } });
  });

  test("[ID10] two sessions on one agent: the idle one goes, the working one is untouched", () => {
    const world = openIdleWorld();
    world.prompt("work on");
    world.prompt("short", { session: "other", clientId: "bob" });
    world.attach("ann");
    world.attach("bob", "other");
    world.finish("short");
    world.leave("ann");
    world.leave("bob");
    advanceTalking(world, "work on", 20 * MINUTE, MINUTE);
    expect(stopped(world, "other")).toMatchObject({ idleMs: 5 * MINUTE });
    expect(stopped(world)).toBeUndefined();
    expect([world.agents.all.length, world.agents.running.length]).toEqual([1, 1]);
    expect(world.agents.latest.asked("session/close")).toHaveLength(1);
    world.finish("work on");
    expect(world.record("turn-ended")?.data).toMatchObject({ stopReason: "end_turn" });
    world.machine.advance(5 * MINUTE);
    expect(world.agents.running).toEqual([]);
  });
});

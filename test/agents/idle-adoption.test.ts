// Is nobody judged for what a takeover, a sleep or a clock has done? Those who were attached have time to come back.
import { describe, expect, test } from "bun:test";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { HOUR, MINUTE, SECOND } from "./idle-world.ts";
import { END_TURN, type KeptWorld, keptMidTurn, openKept, reattach } from "./kept-world.ts";

const DAY = 24 * HOUR;

/** One turn is over, and its client has left. */
function leftAlone(): KeptWorld {
  const world = openKept();
  const ann = world.client("ann");
  ann.prompt("one", { session: "work" });
  ann.attach("work");
  world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("session/prompt").length > 0);
  world.agent.answer("session/prompt", END_TURN);
  world.machine.advance(1);
  ann.leave();
  return world;
}

const stops = (world: KeptWorld) => world.of("idle-stopped").map(({ data }) => data["reason"]);

describe("clocks", () => {
  test("[ID11] a host two days back in time, then one on time: idle for 6 s is idle for 6 s", () => {
    const world = leftAlone();
    // Written by the host that is two days back.
    world.machine.advance(6 * SECOND);
    world.machine.turnClock(2 * DAY);
    const next = world.takeover();
    next.machine.advance(4 * MINUTE);
    expect(stops(next)).toEqual([]);
    next.machine.advance(MINUTE);
    expect(stops(next)).toEqual(["idle for 5 m"]);
  });

  test("[ID11] a clock that is put back keeps nobody for long either", () => {
    const world = leftAlone();
    world.machine.advance(MINUTE);
    world.machine.turnClock(-2 * DAY);
    const next = world.takeover();
    next.machine.advance(5 * MINUTE + SECOND);
    expect(stops(next)).toHaveLength(1);
  });

  test("[ID11] the time between two hosts counts as one tick", () => {
    const world = leftAlone();
    world.machine.advance(2 * MINUTE);
    const next = world.takeover({ waitMs: 20 * MINUTE });
    next.machine.advance(2 * MINUTE);
    expect(stops(next)).toEqual([]);
    next.machine.advance(35 * SECOND);
    expect(stops(next)).toEqual(["idle for 5 m"]);
  });

  test("[ID11] [ID7] eight hours of sleep under the host before count as one tick", () => {
    const world = leftAlone();
    world.machine.advance(MINUTE);
    world.process.freeze();
    world.machine.advance(8 * HOUR);
    world.process.thaw();
    world.machine.advance(SECOND);
    const next = world.takeover();
    next.machine.advance(3 * MINUTE);
    expect(stops(next)).toEqual([]);
    next.machine.advance(MINUTE);
    expect(stops(next)).toHaveLength(1);
  });

  test("[ID11] a pin is as long as it was, whatever the clock says", () => {
    const world = leftAlone();
    world.client("ann").done({ verb: "keep", session: "work", forMs: HOUR });
    world.machine.advance(MINUTE);
    world.machine.turnClock(2 * DAY);
    const next = world.takeover();
    next.machine.advance(50 * MINUTE);
    expect(stops(next)).toEqual([]);
    next.machine.advance(20 * MINUTE);
    expect(stops(next)).toHaveLength(1);
  });

  test("[ID11] a record of the time that cannot be read costs nobody a session", () => {
    const world = leftAlone();
    world.machine.advance(2 * MINUTE);
    world.machine.files.replace("/state/awake.json", '{"stretches":[{"at":');
    const next = world.takeover();
    next.machine.advance(4 * MINUTE);
    expect(stops(next)).toEqual([]);
    next.machine.advance(MINUTE);
    expect(stops(next)).toHaveLength(1);
  });
});

describe("those who were attached", () => {
  test("[ID11] a watched turn that was silent for long is nobody's to stop while its client comes back", () => {
    const { world, viewer, acpId } = keptMidTurn();
    world.machine.advance(25 * MINUTE);
    const next = world.takeover();
    next.machine.advance(10 * SECOND);
    const back = reattach(next, viewer);
    next.machine.advance(HOUR);
    next.agent.text(acpId, "done");
    next.agent.answer("session/prompt", END_TURN);
    next.machine.advance(SECOND);
    expect(stops(next)).toEqual([]);
    expect(back.heard.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "end_turn" } });
  });

  test("[ID11] a question that is older than the cap waits for its person", () => {
    const { world, viewer, acpId } = keptMidTurn();
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const params = { sessionId: acpId, toolCall: { toolCallId: "t" }, options };
    world.agent.say({ jsonrpc: "2.0", id: 7, method: "session/request_permission", params });
    world.machine.advance(2 * HOUR);
    const next = world.takeover();
    next.machine.advance(20 * SECOND);
    reattach(next, viewer);
    next.machine.advance(SECOND);
    expect([stops(next), next.of("permission-resolved")]).toEqual([[], []]);
  });

  test("[ID11] nobody is judged sooner than 30 s after the adoption, however short the times are", () => {
    const idle = { ...DEFAULT_SETTINGS.idle, idleTimeoutMs: SECOND, maxIdleMs: 2 * SECOND, staleOutputMs: SECOND };
    const { world } = keptMidTurn({ deps: { idleLimits: () => idle } });
    world.machine.advance(MINUTE);
    const next = world.takeover();
    next.agent.answer("session/prompt", END_TURN);
    next.machine.advance(29 * SECOND);
    expect(stops(next)).toEqual([]);
    next.machine.advance(2 * SECOND);
    expect(stops(next)).toHaveLength(1);
  });

  test("[ID11] those who do not come back are on record as gone: the next hosts count on", () => {
    const { world } = keptMidTurn();
    world.agent.answer("session/prompt", END_TURN);
    world.machine.advance(SECOND);
    let host = world.takeover();
    host.machine.advance(2 * MINUTE);
    expect(host.of("idle-started")).toMatchObject([{ data: { idleMs: 30 * SECOND } }]);
    host = host.takeover();
    host.machine.advance(2 * MINUTE);
    expect(stops(host)).toEqual([]);
    host = host.takeover();
    host.machine.advance(61 * SECOND);
    expect(stops(host)).toEqual(["idle for 5 m"]);
  });

  test("[ID11] those who come back leave no trace of idleness", () => {
    const { world, viewer } = keptMidTurn();
    world.machine.advance(MINUTE);
    const next = world.takeover();
    next.machine.advance(20 * SECOND);
    reattach(next, viewer);
    next.machine.advance(HOUR);
    expect(next.types().filter((type) => type.startsWith("idle"))).toEqual([]);
  });

  test("[ID11] a session that was stopped and is at work again is not taken for a stopped one", () => {
    const world = leftAlone();
    world.machine.advance(HOUR);
    expect(stops(world)).toHaveLength(1);
    const ann = world.client("ann");
    ann.prompt("two", { session: "work" });
    ann.attach("work");
    world.machine.until(() => world.agent.asked("session/prompt").length > 0);
    const next = world.takeover();
    next.machine.advance(SECOND);
    expect(next.service.infos()).toMatchObject([{ turn: "running", idle: { verdict: "kept" } }]);
    expect([next.service.company(), next.agent.alive]).toEqual([1, true]);
  });
});

// What does the service do about the room that agents take? It gives it back, by a restart where nothing else helps, and keeps a floor.
import { describe, expect, test } from "bun:test";
import { Fault, messageOf } from "../../src/protocol/fault.ts";
import { DISK_FLOOR_BYTES } from "../../src/protocol/settings.ts";
import { END_TURN, type KeptOptions, type KeptWorld, keptMidTurn, openKept } from "./kept-world.ts";

const MIB = 1024 * 1024;

/** More than is kept, in lines that mean nothing. */
const flood = ({ keep, one, machine }: KeptWorld, lines = 13): void => {
  keep.append(one, `${"x".repeat(5 * MIB - 1)}\n`.repeat(lines));
  machine.advance(200);
};
const say = ({ agent, machine }: KeptWorld, acpId: string, update: Record<string, unknown>): void => {
  agent.update(acpId, update);
  machine.advance(200);
};
const end = ({ agent, machine }: KeptWorld): void => {
  agent.answer("session/prompt", END_TURN);
  machine.advance(20_000);
};
/** With a question that outlives the turn. */
const withQuestion = (world: KeptWorld, sessionId: string): KeptWorld => {
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const params = { sessionId, toolCall: { toolCallId: "t", title: "Write", kind: "edit" }, options };
  world.agent.say({ jsonrpc: "2.0", id: 77, method: "session/request_permission", params });
  world.machine.advance(5);
  return world;
};
const agentsOf = ({ keep }: KeptWorld): number => keep.agents.all.length;

function crowded(options: KeptOptions = {}) {
  const stage = keptMidTurn(options);
  stage.world.keep.canPunch = false;
  flood(stage.world);
  return stage;
}

describe("output that holes cannot be made in", () => {
  test("[KP9] nothing is restarted in mid-turn; at its end the agent is, the old files go, and the session goes on in the new process", () => {
    const { world, acpId, viewer } = crowded();
    const { machine, one: old } = world;
    world.agent.text(acpId, "still here");
    machine.advance(60_000);
    expect([agentsOf(world), world.agent.done, world.keep.punched.length]).toEqual([1, [], 2]);
    end(world);
    expect(agentsOf(world)).toBe(2);
    expect(world.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn"]);
    expect([world.texts(), world.of("restored").length, world.of("context-lost")]).toEqual([["still here"], 1, []]);
    expect([old.agent.alive, machine.files.list("/state/keepers")]).toEqual([
      false,
      [world.one.place.directory.split("/").at(-1) ?? ""],
    ]);
    expect(machine.files.texts.get(old.place.out)).toBeUndefined();
    viewer.prompt("second", { session: "work" });
    machine.advance(50);
    expect(world.agent.asked("session/prompt").map(({ params }) => params?.["sessionId"])).toEqual([acpId]);
    end(world);
    expect([agentsOf(world), world.of("turn-ended").length]).toEqual([2, 2]);
  });

  test("[KP9] not while prompts wait, in whichever session of the agent", () => {
    const { world, viewer } = crowded();
    const { machine } = world;
    viewer.prompt("behind", { session: "work" });
    world.client("bob").prompt("elsewhere", { session: "other" });
    machine.until(() => world.agent.asked("session/prompt").length === 2);
    const [first, elsewhere] = world.agent.asked("session/prompt");
    const answer = (id: unknown): void => {
      world.agent.say({ jsonrpc: "2.0", id, ...END_TURN });
      machine.advance(20_000);
    };
    answer(first?.id);
    answer(world.agent.asked("session/prompt").at(-1)?.id);
    expect([agentsOf(world), world.of("turn-ended").length]).toEqual([1, 2]);
    answer(elsewhere?.id);
    expect([agentsOf(world), world.of("turn-ended", "other").length]).toEqual([2, 1]);
  });

  test("[KP9] not while a tool runs on behind its turn: the restart comes when that has ended", () => {
    const { world, acpId } = crowded();
    say(world, acpId, { sessionUpdate: "tool_call", toolCallId: "t", title: "Test", status: "in_progress" });
    end(world);
    expect([agentsOf(world), world.of("turn-ended").length]).toEqual([1, 1]);
    say(world, acpId, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
    world.machine.advance(20_000);
    expect(agentsOf(world)).toBe(2);
  });

  test("[KP9] nor while a question is open behind its turn", () => {
    const { world, acpId, viewer } = crowded();
    end(withQuestion(world, acpId));
    expect([agentsOf(world), world.of("turn-ended").length]).toEqual([1, 1]);
    const permissionId = String(world.of("permission-requested")[0]?.data["permissionId"]);
    viewer.done({ verb: "answer", session: "work", permissionId, optionId: "y" });
    world.machine.advance(20_000);
    expect(agentsOf(world)).toBe(2);
  });

  test("[KP9] nor while it owes an answer to anybody", () => {
    const { world } = crowded({ replies: { "session/set_mode": () => undefined } });
    void world.client("bob").ask({ verb: "set", session: "work", modeId: "plan" });
    end(world);
    expect([agentsOf(world), world.of("turn-ended").length]).toEqual([1, 1]);
    world.agent.answer("session/set_mode", { result: {} });
    world.machine.advance(20_000);
    expect([agentsOf(world), world.of("update").length]).toEqual([2, 1]);
  });

  test("[KP9] an agent that an earlier host left full is restarted by the next one, between turns", () => {
    const { world } = crowded();
    const next = world.takeover();
    next.machine.advance(1_000);
    expect(agentsOf(next)).toBe(1);
    flood(next, 1);
    expect(agentsOf(next)).toBe(1);
    end(next);
    expect([agentsOf(next), next.of("turn-ended").length]).toEqual([2, 1]);
    next.client("ann").attach("work");
    next.machine.advance(20);
    expect(next.of("restored")).toHaveLength(1);
  });

  test("[KP9] [KP8] not by a host that leaves: the agent is its keeper's", () => {
    const { world } = crowded();
    world.machine.wait(world.service.leave(true));
    end(world);
    expect([agentsOf(world), world.agent.alive]).toEqual([1, true]);
  });

  test("[KP9] where holes can be made nothing is ever restarted", () => {
    const { world } = keptMidTurn();
    flood(world);
    end(world);
    expect([agentsOf(world), world.keep.punched.map(([path]) => path)]).toEqual([
      1,
      [world.one.place.out, world.one.place.inputLog],
    ]);
  });
});

describe("the floor of free space", () => {
  test("[KP9] one byte below 16 MiB a prompt is refused with the size that is left, and leaves no trace; at 16 MiB it is taken", () => {
    const stage = { free: DISK_FLOOR_BYTES - 1 };
    const world = openKept({ deps: { freeBytes: () => stage.free } });
    expect(DISK_FLOOR_BYTES).toBe(16 * MIB);
    const refusal = (): unknown => {
      try {
        return world.client("ann").prompt("first", { session: "work" });
      } catch (thrown) {
        return thrown instanceof Fault ? [thrown.code, messageOf(thrown)] : thrown;
      }
    };
    expect(refusal()).toEqual(["DISK_FULL", expect.stringContaining("16.0 MiB are left where sessions are kept")]);
    stage.free = 5.5 * MIB;
    expect(refusal()).toEqual(["DISK_FULL", expect.stringContaining("5.5 MiB are left")]);
    world.machine.advance(1_000);
    expect([world.service.infos(), world.journal("work"), agentsOf(world)]).toEqual([[], [], 0]);
    stage.free = DISK_FLOOR_BYTES;
    expect(refusal()).toMatchObject({ session: "work" });
    world.machine.until(() => agentsOf(world) > 0 && world.agent.asked("session/prompt").length === 1);
  });

  test("[KP9] [KP5] a prompt that is on record already is not refused when it is asked again below the floor", () => {
    const stage = { free: DISK_FLOOR_BYTES };
    const world = openKept({ deps: { freeBytes: () => stage.free } });
    const ann = world.client("ann");
    const named = { session: "work", promptId: "11111111-named" };
    const own = { promptId: "22222222-own" };
    const first = [named, own].map((how) => ann.prompt("first", how));
    stage.free = 0;
    expect([named, own].map((how) => ann.prompt("first", how))).toEqual(first);
  });
});

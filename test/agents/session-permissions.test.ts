// Who may the agent be allowed by? The session's policy, or the first of all who are attached.
import { describe, expect, test } from "bun:test";
import type { Policy } from "../../src/protocol/agents.ts";
import { END_TURN, endTurn, midTurn, type TestClient } from "./service-world.ts";

const OPTIONS = [
  { optionId: "go", name: "Go", kind: "allow_once" },
  { optionId: "stop", name: "Stop", kind: "reject_once" },
];

type World = ReturnType<typeof midTurn>;

const request = ({ agents, acpId }: World, id: string | number = "p1", kind = "edit"): void =>
  agents.latest.say({
    jsonrpc: "2.0",
    id,
    method: "session/request_permission",
    params: { sessionId: acpId, toolCall: { toolCallId: "t1", title: "Write", kind }, options: OPTIONS },
  });

const answerTo = ({ agents }: World, id: string | number = "p1"): unknown =>
  agents.latest.heard.find((each) => each.id === id && each.method === undefined)?.result;

const askedOf = (client: TestClient): string => String(client.of("permission-requested").at(-1)?.data["permissionId"]);

const SELECTED = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const CANCELLED = { outcome: { outcome: "cancelled" } };

describe("policy", () => {
  test.each([
    ["allow", "edit", "go"],
    ["deny", "edit", "stop"],
    ["deny", "read", "stop"],
    ["allow-reads", "read", "go"],
    ["allow-reads", "edit", "stop"],
  ] as [Policy, string, string][])(
    "[SE4] [AC4] %s answers a tool that is to %s at once with %s",
    (policy, kind, option) => {
      const world = midTurn({}, { policy });
      request(world, 7, kind);
      world.machine.advance(0);
      expect(answerTo(world, 7)).toEqual(SELECTED(option));
      expect(world.viewer.of("permission-requested")[0]?.data).toMatchObject({ policy, options: OPTIONS });
      expect(world.viewer.of("permission-resolved")[0]?.data).toMatchObject({ optionId: option, by: "policy" });
    },
  );

  test("[SE4] is the policy of the prompt that runs, not of one that waits", () => {
    const world = midTurn({}, { policy: "deny" });
    world.viewer.prompt("second", { session: "work", policy: "allow" });
    request(world, 1);
    world.machine.advance(0);
    endTurn(world, world.viewer);
    world.machine.advance(0);
    request(world, 2);
    world.machine.advance(0);
    expect([answerTo(world, 1), answerTo(world, 2)]).toEqual([SELECTED("stop"), SELECTED("go")]);
  });

  test("[SE4] [SC5] stays with the session when the turn is over: work in the background is asked for the same way", () => {
    const world = midTurn({}, { policy: "allow" });
    endTurn(world, world.viewer);
    request(world, 3);
    world.machine.advance(0);
    expect(answerTo(world, 3)).toEqual(SELECTED("go"));
  });

  test("[SC5] a session that nobody gave a policy denies, and one that nobody knows is cancelled", () => {
    const world = midTurn({}, { policy: "deny" });
    world.agents.latest.say({
      jsonrpc: "2.0",
      id: "x",
      method: "session/request_permission",
      params: { sessionId: "nobody", toolCall: { toolCallId: "t" }, options: OPTIONS },
    });
    world.machine.advance(0);
    expect(answerTo(world, "x")).toEqual(CANCELLED);
  });
});

describe("ask", () => {
  test("[SE4] waits until somebody attaches and answers, however long that takes", () => {
    const world = midTurn(
      { deps: { idleLimits: () => ({ idleTimeoutMs: 0, maxIdleMs: 0, staleOutputMs: 0 }) } },
      {
        policy: "ask",
      },
    );
    world.viewer.leave();
    request(world);
    world.machine.advance(24 * 3_600_000);
    expect(answerTo(world)).toBeUndefined();
    const late = world.client("late");
    late.attach("work");
    world.machine.advance(0);
    late.done({ verb: "answer", session: "work", permissionId: askedOf(late), optionId: "go" });
    world.machine.advance(0);
    expect(answerTo(world)).toEqual(SELECTED("go"));
  });

  test("[SE4] goes to all who are attached; the first answer wins, the others are told, and the second is refused", () => {
    const world = midTurn({}, { policy: "ask" });
    const [one, two] = [world.viewer, world.client("client-2")];
    two.attach("work");
    request(world);
    world.machine.advance(0);
    expect(world.service.infos()[0]?.turn).toBe("waiting");
    const permissionId = askedOf(one);
    expect(askedOf(two)).toBe(permissionId);
    two.done({ verb: "answer", session: "work", permissionId, optionId: "stop" });
    expect(() => one.done({ verb: "answer", session: "work", permissionId, optionId: "go" })).toThrow(
      "answered already",
    );
    world.machine.advance(0);
    expect(answerTo(world)).toEqual(SELECTED("stop"));
    for (const client of [one, two]) {
      expect(client.of("permission-resolved").map(({ data }) => data)).toEqual([
        { permissionId, outcome: "selected", optionId: "stop", by: "client-2" },
      ]);
    }
    expect(world.service.infos()[0]?.turn).toBe("running");
  });

  test("[SE4] [AC4] an option that the agent did not offer is refused, and the question stays open", () => {
    const world = midTurn({}, { policy: "ask" });
    request(world);
    world.machine.advance(0);
    const permissionId = askedOf(world.viewer);
    const answer = (optionId: string) => world.viewer.done({ verb: "answer", session: "work", permissionId, optionId });
    expect(() => answer("allow_once")).toThrow("there are: go, stop");
    expect(answerTo(world)).toBeUndefined();
    answer("go");
    world.machine.advance(0);
    expect(answerTo(world)).toEqual(SELECTED("go"));
  });

  test("[SE4] several questions at once are several, whatever ids they have", () => {
    const world = midTurn({}, { policy: "ask" });
    for (const id of [1, "1", "two"]) request(world, id);
    world.machine.advance(0);
    const asked = world.viewer.of("permission-requested").map(({ data }) => String(data["permissionId"]));
    expect(new Set(asked).size).toBe(3);
    for (const [index, permissionId] of asked.entries()) {
      world.viewer.done({ verb: "answer", session: "work", permissionId, optionId: index === 1 ? "stop" : "go" });
    }
    world.machine.advance(0);
    expect([answerTo(world, 1), answerTo(world, "1"), answerTo(world, "two")]).toEqual([
      SELECTED("go"),
      SELECTED("stop"),
      SELECTED("go"),
    ]);
  });

  test("[SE6] cancel answers every open question as cancelled, tells so, and the turn ends cancelled", () => {
    const world = midTurn({}, { policy: "ask" });
    request(world, 1);
    request(world, 2);
    world.machine.advance(0);
    world.viewer.done({ verb: "cancel", session: "work" });
    world.machine.advance(0);
    expect([answerTo(world, 1), answerTo(world, 2)]).toEqual([CANCELLED, CANCELLED]);
    expect(world.viewer.of("permission-resolved").map(({ data }) => [data["outcome"], data["by"]])).toEqual([
      ["cancelled", "cancel"],
      ["cancelled", "cancel"],
    ]);
    world.agents.latest.answer("session/prompt", { result: { stopReason: "cancelled" } });
    world.machine.advance(0);
    expect(world.viewer.of("turn-ended")[0]?.data["stopReason"]).toBe("cancelled");
  });

  test("[AC3] [SE4] a question that the agent takes back is answered, and told as taken back", () => {
    const world = midTurn({}, { policy: "ask" });
    request(world, "back");
    world.machine.advance(0);
    world.agents.latest.say({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "back" } });
    world.machine.advance(0);
    expect(answerTo(world, "back")).toEqual(CANCELLED);
    expect(world.viewer.of("permission-resolved")[0]?.data).toMatchObject({ outcome: "cancelled", by: "agent" });
    expect(world.service.infos()[0]?.turn).toBe("running");
  });

  test.each(["dies", "is reconnected"])("[SE4] [SE7] when the agent %s nobody is asked any more", (how) => {
    const world = midTurn({}, { policy: "ask" });
    request(world);
    world.machine.advance(0);
    if (how === "dies") world.agents.latest.exit(1);
    else world.machine.wait(world.viewer.ask({ verb: "reconnect", agent: "claude-code", env: {} }));
    world.machine.advance(0);
    expect(world.viewer.of("permission-resolved")[0]?.data).toMatchObject({ outcome: "cancelled", by: "agent" });
    expect(world.service.infos()[0]?.turn).toBe("idle");
    expect(() =>
      world.viewer.done({ verb: "answer", session: "work", permissionId: askedOf(world.viewer), optionId: "go" }),
    ).toThrow("answered already");
  });

  test("[SE4] a question of a new process is another, although it has the same id", () => {
    const world = midTurn({}, { policy: "ask" });
    request(world, 1);
    world.machine.advance(0);
    const before = askedOf(world.viewer);
    world.agents.latest.exit(1);
    world.viewer.prompt("again", { session: "work", policy: "ask" });
    world.machine.until(() => world.agents.latest.asked("session/prompt").length === 1);
    request(world, 1);
    world.machine.advance(0);
    expect(askedOf(world.viewer)).not.toBe(before);
    world.agents.latest.answer("session/prompt", END_TURN);
  });
});

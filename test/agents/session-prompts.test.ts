// Do prompts of one session run one after the other, each once? Queue, withdrawal, cancel, and what others see of it.
import { describe, expect, test } from "bun:test";
import { END_TURN, endTurn, midTurn, newPromptId, openService } from "./service-world.ts";

const texts = (agents: { latest: { asked(method: string): { params?: Record<string, unknown> }[] } }): string[] =>
  agents.latest
    .asked("session/prompt")
    .map(({ params }) => (params?.["prompt"] as { text: string }[] | undefined)?.[0]?.text ?? "");

describe("the queue", () => {
  test("[SE2] a second prompt waits until the first has ended, and they run in the order they came", () => {
    const world = midTurn();
    const { viewer, agents, machine, session } = world;
    viewer.prompt("second", { session });
    viewer.prompt("third", { session });
    machine.advance(1_000);
    expect(texts(agents)).toEqual(["first"]);
    expect(viewer.done<{ queued: number; turn: string }[]>({ verb: "sessions" })[0]).toMatchObject({
      queued: 2,
      turn: "running",
    });
    endTurn(world, viewer);
    machine.advance(0);
    expect(texts(agents)).toEqual(["first", "second"]);
    endTurn(world, viewer);
    endTurn(world, viewer);
    expect(texts(agents)).toEqual(["first", "second", "third"]);
    expect(viewer.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn", "end_turn", "end_turn"]);
  });

  test("[SE2] sessions of one agent run at the same time in one process", () => {
    const { viewer, agents, machine } = midTurn();
    viewer.prompt("elsewhere", { session: "other" });
    machine.until(() => texts(agents).length === 2);
    expect(agents.all).toHaveLength(1);
    expect(new Set(agents.latest.asked("session/prompt").map(({ params }) => params?.["sessionId"])).size).toBe(2);
  });

  test("[SE2] a queued prompt can be withdrawn, the one that runs cannot, and the others are told", () => {
    const world = midTurn();
    const { viewer, agents, session } = world;
    const promptId = newPromptId();
    viewer.prompt("second", { session, promptId });
    viewer.prompt("third", { session });
    expect(viewer.done({ verb: "withdraw", session, promptId })).toEqual({ withdrawn: true });
    expect(viewer.done({ verb: "withdraw", session, promptId })).toEqual({ withdrawn: false });
    const running = String(viewer.of("turn-started")[0]?.data["promptId"]);
    expect(viewer.done({ verb: "withdraw", session, promptId: running })).toEqual({ withdrawn: false });
    endTurn(world, viewer);
    endTurn(world, viewer);
    expect(texts(agents)).toEqual(["first", "third"]);
    expect(viewer.of("withdrawn").map(({ data }) => data)).toEqual([{ promptId }]);
  });

  test("[SE2] [SE7] a prompt asked for again under its id is sent once, and whoever asks again gets its events from the first", () => {
    const world = midTurn();
    const { viewer, agents, session, machine } = world;
    const promptId = newPromptId();
    const first = viewer.prompt("second", { session, promptId });
    expect(viewer.prompt("second", { session, promptId })).toEqual(first);
    endTurn(world, viewer);
    endTurn(world, viewer);
    const other = world.client("client-2");
    const again = other.prompt("second", { session, promptId });
    expect(again).toEqual(first);
    other.attach(session, again.after);
    machine.advance(1_000);
    expect(texts(agents)).toEqual(["first", "second"]);
    expect(other.of("prompt").map(({ data }) => data["promptId"])).toEqual([promptId]);
    expect(other.of("turn-ended").at(-1)?.data).toMatchObject({ promptId, stopReason: "end_turn" });
  });

  test("[SE1] [SE2] without a session's name too: asked for again under its id, it is the same session and sent once", () => {
    const { client, machine, agents } = openService();
    const promptId = newPromptId();
    const first = client().prompt("x", { promptId });
    expect(client("client-2").prompt("x", { promptId })).toEqual(first);
    machine.until(() => texts(agents).length === 1);
    machine.advance(1_000);
    expect(texts(agents)).toEqual(["x"]);
  });

  test("[SE2] [SE7] the next host knows the id too: nothing is sent again", () => {
    const world = midTurn();
    const { viewer, session } = world;
    const promptId = newPromptId();
    const { after } = viewer.prompt("second", { session, promptId });
    endTurn(world, viewer);
    endTurn(world, viewer);
    const next = world.nextHost();
    const client = next.client();
    expect(client.prompt("second", { session, promptId })).toEqual({ session, after });
    client.attach(session, after);
    next.machine.advance(1_000);
    expect(next.agents.all).toEqual([]);
    expect(client.of("turn-ended").at(-1)?.data["promptId"]).toBe(promptId);
  });

  test("[SE2] a turn that cannot begin ends with its reason, and the next one is tried", () => {
    const world = openService({ missing: true });
    const client = world.client();
    const { session } = client.prompt("one", { session: "work" });
    client.attach(session);
    world.machine.until(() => client.of("turn-ended").length === 1);
    expect(client.of("turn-ended")[0]?.data).toMatchObject({ stopReason: "error", code: "AGENT_NOT_FOUND" });
    expect(client.of("turn-ended")[0]?.data["message"]).toContain("Could not start Claude Code");
    world.agents.options = { replies: { "session/prompt": () => END_TURN } };
    client.prompt("two", { session });
    world.machine.until(() => client.of("turn-ended").length === 2);
    expect(client.of("turn-ended")[1]?.data["stopReason"]).toBe("end_turn");
  });
});

describe("cancel", () => {
  test("[SE6] sends session/cancel for the session, and the turn ends as the agent says", () => {
    const { viewer, agents, machine, session, acpId } = midTurn();
    expect(viewer.done({ verb: "cancel", session })).toEqual({ cancelled: true });
    expect(agents.latest.heard.filter(({ method }) => method === "session/cancel").map(({ params }) => params)).toEqual(
      [{ sessionId: acpId }],
    );
    agents.latest.answer("session/prompt", { result: { stopReason: "cancelled" } });
    machine.until(() => viewer.of("turn-ended").length === 1);
    expect(viewer.of("turn-ended")[0]?.data["stopReason"]).toBe("cancelled");
    expect(viewer.done({ verb: "cancel", session })).toEqual({ cancelled: false });
  });

  test("[SE6] before the agent is ready: nothing is ever sent, and the turn ends cancelled", () => {
    const world = openService({ replies: { initialize: () => undefined } });
    const client = world.client();
    const { session } = client.prompt("one", { session: "work" });
    client.attach(session);
    world.machine.advance(100);
    expect(client.done({ verb: "cancel", session })).toEqual({ cancelled: true });
    world.agents.latest.answer("initialize", { result: { protocolVersion: 1 } });
    world.machine.until(() => client.of("turn-ended").length === 1);
    expect(client.of("turn-ended")[0]?.data["stopReason"]).toBe("cancelled");
    expect(world.agents.latest.asked("session/prompt")).toEqual([]);
  });

  test("[SE6] only the turn that runs is cancelled: the next in the queue runs", () => {
    const { viewer, agents, machine, session } = midTurn();
    viewer.prompt("second", { session });
    viewer.done({ verb: "cancel", session });
    agents.latest.answer("session/prompt", { result: { stopReason: "cancelled" } });
    machine.until(() => texts(agents).length === 2);
    agents.latest.answer("session/prompt", END_TURN);
    machine.until(() => viewer.of("turn-ended").length === 2);
    expect(viewer.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["cancelled", "end_turn"]);
  });
});

describe("what others see", () => {
  test("[SE4] prompts of one client are shown to the others, with who asked", () => {
    const world = midTurn();
    const other = world.client("client-2");
    other.attach("work");
    world.viewer.prompt("second", { session: "work" });
    other.prompt("third", { session: "work" });
    world.machine.advance(0);
    expect(world.viewer.of("prompt").map(({ data }) => [data["text"], data["clientId"]])).toEqual([
      ["first", "client-1"],
      ["second", "client-1"],
      ["third", "client-2"],
    ]);
    expect(other.heard).toEqual(world.viewer.heard);
  });

  test("[AM9] [SE5] a client that leaves in the middle of a turn ends nothing, and comes back with its cursor", () => {
    const world = midTurn();
    const { viewer, agents, machine, acpId } = world;
    agents.latest.text(acpId, "one ");
    machine.advance(0);
    const cursor = viewer.heard.at(-1)?.seq ?? 0;
    viewer.leave();
    agents.latest.text(acpId, "two ");
    agents.latest.answer("session/prompt", END_TURN);
    machine.advance(1_000);
    expect(agents.latest.alive).toBe(true);
    const back = world.client("client-1");
    back.attach("work", cursor);
    machine.advance(0);
    const all = [...viewer.heard, ...back.heard];
    const stays = world.client("client-2");
    stays.attach("work");
    machine.advance(0);
    expect(all.filter(({ type }) => type !== "idle-started" && type !== "idle-ended").map(({ seq }) => seq)).toEqual(
      stays.heard.filter(({ type }) => type !== "idle-started" && type !== "idle-ended").map(({ seq }) => seq),
    );
    expect(back.types()).toContain("turn-ended");
  });
});

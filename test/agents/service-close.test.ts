// What becomes of a session that is closed, and of all of them when the host leaves? Nothing is lost, written twice or left open.
import { describe, expect, test } from "bun:test";
import { END_TURN, midTurn, openService } from "./service-world.ts";

describe("close", () => {
  test("[SE1] cancels the turn, takes back what is queued, closes the session in the agent, and leaves the process", () => {
    const world = midTurn();
    const { viewer, agents, machine, acpId } = world;
    viewer.prompt("queued", { session: "work" });
    viewer.done({ verb: "close", session: "work" });
    machine.advance(0);
    const heard = agents.latest.heard.map(({ method }) => method);
    expect(heard.slice(-2)).toEqual(["session/cancel", "session/close"]);
    expect(agents.latest.asked("session/close")[0]?.params).toEqual({ sessionId: acpId });
    expect(agents.latest.asked("session/prompt")).toHaveLength(1);
    expect(agents.latest.alive).toBe(true);
    const types = viewer.types();
    expect(types.slice(types.indexOf("withdrawn"))).toEqual([
      "withdrawn",
      "turn-ended",
      "turn-ended",
      "session-closed",
    ]);
    expect(viewer.of("turn-ended")[0]?.data["stopReason"]).toBe("cancelled");
  });

  test("[SE3] a closed session that comes back goes on with its numbers: none is given twice", () => {
    const world = midTurn();
    const { viewer, machine, agents, acpId, journal } = world;
    viewer.done({ verb: "close", session: "work" });
    viewer.leave();
    const late = agents.latest;
    late.text(acpId, "too late");
    const back = world.client("back");
    back.prompt("again", { session: "work" });
    machine.until(() => agents.latest.asked("session/prompt").length === 2);
    late.answer("session/prompt", END_TURN);
    machine.advance(1_000);
    const seqs = journal("work").map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  test("[SE3] whoever is still attached to a closed session hears of what comes later", () => {
    const world = midTurn();
    const { viewer, machine } = world;
    viewer.done({ verb: "close", session: "work" });
    const back = world.client("back");
    back.prompt("again", { session: "work" });
    machine.advance(0);
    expect(viewer.of("prompt").map(({ data }) => data["text"])).toEqual(["first", "again"]);
  });

  test("[SE1] a closed session's file is closed with it, when nobody is attached any more", () => {
    let open = 0;
    const { client, machine } = openService({
      replies: { "session/prompt": () => END_TURN },
      deps: {},
    });
    const { journal } = machine.files;
    machine.files.journal = (path) => {
      open++;
      const file = journal(path);
      return { ...file, close: () => void open-- };
    };
    for (let round = 0; round < 20; round++) {
      const one = client(`c${round}`);
      const { session, after } = one.prompt("x");
      one.attach(session, after);
      machine.until(() => one.of("turn-ended").length === 1);
      one.done({ verb: "close", session });
      one.leave();
    }
    machine.advance(1_000);
    expect(open).toBe(0);
  });

  test("[SE3] one that is closed while the disk is full is written when there is room, and its numbers go on", () => {
    const world = midTurn();
    const { viewer, machine, journal } = world;
    machine.files.failWrites(Number.POSITIVE_INFINITY);
    viewer.done({ verb: "close", session: "work" });
    viewer.leave();
    machine.files.failWrites(0);
    machine.advance(2_000);
    expect(journal("work").at(-1)?.type).toBe("session-closed");
    world.client("back").prompt("again", { session: "work" });
    machine.advance(0);
    const seqs = journal("work").map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  test("[SE1] closing while the agent is still starting ends the turn, and nothing of it is sent", () => {
    const world = openService({ replies: { initialize: () => undefined } });
    const client = world.client();
    client.attach(client.prompt("x", { session: "work" }).session);
    world.machine.advance(10);
    client.done({ verb: "close", session: "work" });
    world.agents.latest.answer("initialize", { result: { protocolVersion: 1 } });
    world.machine.advance(1_000);
    expect(client.of("turn-ended")[0]?.data["stopReason"]).toBe("cancelled");
    expect(world.agents.latest.asked("session/prompt")).toEqual([]);
  });
});

describe("the host leaves", () => {
  test("[SE7] turns that run and prompts that wait are told as lost, and viewers hear of it before the end", () => {
    const world = midTurn();
    const { viewer, machine, service, session } = world;
    viewer.prompt("queued", { session });
    machine.wait(service.leave());
    expect(viewer.of("turn-ended").map(({ data }) => [data["stopReason"], data["code"]])).toEqual([
      ["lost", "AGENT_LOST"],
      ["lost", "AGENT_LOST"],
    ]);
  });

  test("[SE3] from then on it writes nothing: a journal has one writer, and no number is given twice", () => {
    const world = midTurn();
    const { machine, service, agents, acpId, journal, viewer } = world;
    machine.wait(service.leave());
    const next = world.nextHost();
    const client = next.client();
    client.prompt("second", { session: "work" });
    agents.latest.text(acpId, "too late");
    agents.latest.answer("session/prompt", END_TURN);
    expect(() => viewer.prompt("to the old host", { session: "work" })).toThrow();
    machine.wait(service.end(false));
    machine.until(() => next.agents.all[0]?.asked("session/prompt").length === 1);
    const seqs = journal("work").map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(JSON.stringify(journal("work"))).not.toContain("too late");
  });
});

// What becomes of a session that is closed, and of all of them when the host leaves? Nothing is lost, written twice or left open.
import { describe, expect, test } from "bun:test";
import { END_TURN, endTurn, midTurn, newPromptId, openService, type ServiceWorld } from "./service-world.ts";

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
      const file = journal(path);
      if (!path.endsWith(".ndjson")) return file;
      open++;
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

describe("a session for one prompt", () => {
  const asking = (world: ServiceWorld, promptId: string) => {
    const client = world.client("asker");
    const answer = client.prompt("x", { promptId, attach: true, closes: true });
    return { client, ...answer };
  };

  test("[SE1] is closed by whoever leaves it last, when its turn is over; the answer says so", () => {
    const world = openService();
    const { client, ...answer } = asking(world, newPromptId());
    expect(answer).toMatchObject({ attached: true, closes: true });
    const other = world.client("other");
    world.machine.until(() => world.agents.all[0]?.asked("session/prompt").length === 1);
    other.attach(answer.session);
    endTurn(world, client);
    client.leave();
    expect(world.service.infos().map(({ name }) => name)).toEqual([answer.session]);
    other.leave();
    expect(world.service.infos()).toEqual([]);
    expect(world.agents.latest.asked("session/close")).toHaveLength(1);
    expect(world.journal(answer.session).at(-1)?.type).toBe("session-closed");
  });

  test("[SE1] is closed at the end of its turn when its client left before; not when somebody goes on with it under its name", () => {
    const world = openService();
    const { client, session } = asking(world, newPromptId());
    world.machine.until(() => world.agents.all[0]?.asked("session/prompt").length === 1);
    client.leave();
    expect(world.service.infos().map(({ name }) => name)).toEqual([session]);
    world.agents.latest.answer("session/prompt", END_TURN);
    world.machine.advance(0);
    expect(world.service.infos()).toEqual([]);
    const other = world.client("other");
    other.attach(session, other.prompt("more", { session }).after);
    world.machine.until(() => world.agents.latest.asked("session/prompt").length === 2);
    endTurn(world, other);
    other.leave();
    expect(world.service.infos().map(({ name }) => name)).toEqual([session]);
  });

  test("[SE1] is closed by the next host when its own died behind the end of the turn", () => {
    const world = openService();
    const { client, session } = asking(world, newPromptId());
    world.machine.until(() => world.agents.all[0]?.asked("session/prompt").length === 1);
    endTurn(world, client);
    const next = world.nextHost();
    next.machine.advance(0);
    expect(next.service.infos()).toEqual([]);
    expect(world.journal(session).at(-1)?.type).toBe("session-closed");
  });

  test("[KP5] closed or not, it is found by the prompt's id: who never got the answer and asks the next host sends nothing twice", () => {
    for (const closes of [true, false]) {
      const world = openService();
      const promptId = newPromptId();
      const { client, session } = asking(world, promptId);
      world.machine.until(() => world.agents.all[0]?.asked("session/prompt").length === 1);
      endTurn(world, client);
      if (closes) client.leave();
      const next = world.nextHost();
      next.machine.advance(0);
      const again = asking(next, promptId);
      expect(again.session).toBe(session);
      next.machine.advance(1_000);
      expect(again.client.of("turn-ended").map(({ data }) => data["promptId"])).toEqual([promptId]);
      expect(next.agents.all).toEqual([]);
      again.client.leave();
      expect(next.service.infos()).toEqual([]);
    }
  });

  test("[KP5] whose host died before the prompt was on record is used by whoever asks again", () => {
    const world = openService();
    const promptId = newPromptId();
    const { session } = asking(world, promptId);
    const path = `/state/sessions/${session}.ndjson`;
    const [first = ""] = (world.machine.files.texts.get(path) ?? "").split("\n");
    world.process.kill();
    world.machine.files.replace(path, `${first}\n`);
    const next = world.nextHost();
    const again = asking(next, promptId);
    expect(again.session).toBe(session);
    next.machine.until(() => next.agents.all[0]?.asked("session/prompt").length === 1);
    expect(next.service.infos().map(({ name }) => name)).toEqual([session]);
  });

  test("[SE1] never takes the name of another conversation, however alike their prompts' ids are", () => {
    const world = openService();
    const one = asking(world, "12345678-one");
    const other = asking(world, "12345678-other");
    expect(other.session).not.toBe(one.session);
    expect(world.service.infos()).toHaveLength(2);
  });

  test("[SE3] once closed it is looked at and stays closed, and its file with it", () => {
    const world = openService();
    const { client, session } = asking(world, newPromptId());
    world.machine.until(() => world.agents.all[0]?.asked("session/prompt").length === 1);
    endTurn(world, client);
    client.leave();
    const lines = world.journal(session).length;
    const late = world.client("late");
    late.attach(session);
    expect(late.types().at(-1)).toBe("session-closed");
    late.leave();
    expect(late.done({ verb: "read", session, after: 0, count: 100 })).toMatchObject({ lastSeq: lines });
    expect(world.service.infos()).toEqual([]);
    expect(world.journal(session)).toHaveLength(lines);
  });
});

describe("the host leaves", () => {
  test("[SE7] [CM10] a turn that runs is told as lost, a prompt that waits as never sent, before the end", () => {
    const world = midTurn();
    const { viewer, machine, service, session } = world;
    viewer.prompt("queued", { session });
    machine.wait(service.leave(false));
    expect(viewer.of("turn-ended").map(({ data }) => [data["stopReason"], data["code"]])).toEqual([
      ["lost", "AGENT_LOST"],
      ["error", "HOST_UNREACHABLE"],
    ]);
    expect(viewer.of("turn-ended")[1]?.data["message"]).toContain("the agent never got it");
  });

  test("[SE3] from then on it writes nothing: a journal has one writer, and no number is given twice", () => {
    const world = midTurn();
    const { machine, service, agents, acpId, journal, viewer } = world;
    machine.wait(service.leave(false));
    const next = world.nextHost();
    const client = next.client();
    client.prompt("second", { session: "work" });
    agents.latest.text(acpId, "too late");
    agents.latest.answer("session/prompt", END_TURN);
    expect(() => viewer.prompt("to the old host", { session: "work" })).toThrow();
    machine.wait(service.end());
    machine.until(() => next.agents.all[0]?.asked("session/prompt").length === 1);
    const seqs = journal("work").map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(JSON.stringify(journal("work"))).not.toContain("too late");
  });
});

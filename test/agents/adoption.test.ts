// Does the work go on when the host dies? The turn, the queue, the questions and every word, each exactly once.
import { describe, expect, test } from "bun:test";
import { createDice } from "../support/dice.ts";
import { CAPABILITIES, initialized } from "./fake-agent.ts";
import { END_TURN, type KeptWorld, keptMidTurn, openKept, reattach } from "./kept-world.ts";
import { newPromptId } from "./service-world.ts";

const PERMISSION = {
  toolCall: { toolCallId: "t", title: "Write", kind: "edit" },
  options: [
    { optionId: "y", name: "Yes", kind: "allow_once" },
    { optionId: "n", name: "No", kind: "reject_once" },
  ],
};

const askPermission = ({ agent, machine }: KeptWorld, sessionId: string, id: string | number = 77): void => {
  agent.say({ jsonrpc: "2.0", id, method: "session/request_permission", params: { sessionId, ...PERMISSION } });
  machine.advance(5);
};
const answers = ({ agent }: KeptWorld, id: string | number = 77) =>
  agent.heard.filter((each) => each.id === id && each.method === undefined).map(({ result }) => result);
const prompts = ({ agent }: KeptWorld) =>
  agent.asked("session/prompt").map(({ params }) => (params as { prompt: [{ text: string }] }).prompt[0].text);
const seqs = (heard: readonly { seq: number }[]) => heard.map(({ seq }) => seq);
const end = (world: KeptWorld): void => {
  world.agent.answer("session/prompt", END_TURN);
  world.machine.advance(5);
};

/** An agent that has had its first turn. */
function warmedUp() {
  const world = openKept();
  const ann = world.client("ann");
  ann.prompt("warm", { session: "work" });
  world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("session/prompt").length === 1);
  end(world);
  return { world, ann };
}

describe("a turn", () => {
  test("[KP2] goes on under the next host and ends once; a client that attaches behind what it has misses nothing", () => {
    const { world, viewer, acpId, promptId } = keptMidTurn();
    world.agent.text(acpId, "one");
    world.machine.advance(5);
    world.process.kill();
    world.agent.text(acpId, "nobody there");
    const next = world.takeover();
    const again = reattach(next, viewer);
    next.agent.text(acpId, "three");
    end(next);
    expect(next.texts()).toEqual(["one", "nobody there", "three"]);
    expect(next.of("turn-ended").map(({ data }) => data)).toEqual([{ promptId, stopReason: "end_turn" }]);
    expect(seqs(again.heard)).toEqual(next.journal("work").map(({ seq }) => seq));
    expect([next.keep.agents.all.length, prompts(next), next.of("turn-started").length]).toEqual([1, ["first"], 1]);
  });

  test("[KP2] that ended while nobody was host ends once, with its result", () => {
    const { world, promptId } = keptMidTurn();
    world.process.kill();
    world.agent.answer("session/prompt", END_TURN);
    const next = world.takeover({ waitMs: 1_000 });
    expect(next.of("turn-ended").map(({ data }) => data)).toEqual([{ promptId, stopReason: "end_turn" }]);
    const third = next.takeover();
    expect(third.of("turn-ended")).toHaveLength(1);
  });

  test("[KP4] is cancelled through the next host", () => {
    const { world, acpId } = keptMidTurn();
    const next = world.takeover();
    expect(next.client("ann").done({ verb: "cancel", session: "work" })).toEqual({ cancelled: true });
    next.machine.advance(5);
    expect(next.agent.heard.filter(({ method }) => method === "session/cancel")).toMatchObject([
      { params: { sessionId: acpId } },
    ]);
  });

  test("[KP4] the queue is rebuilt in order, with who asked for what, and sent one after the other", () => {
    const { world, viewer } = keptMidTurn();
    viewer.prompt("second", { session: "work" });
    world.client("bob").prompt("third", { session: "work" });
    const next = world.takeover();
    expect(next.service.infos()).toMatchObject([{ name: "work", turn: "running", queued: 2 }]);
    end(next);
    end(next);
    end(next);
    expect([prompts(next), next.of("turn-ended").length]).toEqual([["first", "second", "third"], 3]);
    expect(next.of("prompt").map(({ data }) => data["clientId"])).toEqual(["ann", "ann", "bob"]);
  });

  test("[KP5] a prompt that is asked for again under its id is not sent again, and its events are the same", () => {
    const { world, promptId } = keptMidTurn();
    const next = world.takeover();
    const asked = next.client("ann").prompt("first", { session: "work", promptId });
    expect(asked).toEqual({ session: "work", after: 1 });
    end(next);
    expect([prompts(next), next.of("prompt").length]).toEqual([["first"], 1]);
    const third = next.takeover();
    expect(third.client("ann").prompt("first", { session: "work", promptId })).toEqual({ session: "work", after: 1 });
    third.machine.advance(50);
    expect(prompts(third)).toEqual(["first"]);
  });

  test("[KP3] started and never sent: host and keeper died in that moment, and the next host sends it once", () => {
    const { world, ann } = warmedUp();
    ann.prompt("first", { session: "work" });
    world.machine.until(() => world.of("turn-started").length === 2);
    expect(prompts(world)).toEqual(["warm"]);
    const next = world.takeover({ keeper: true });
    next.machine.advance(100);
    expect([prompts(next), next.of("turn-started").length]).toEqual([["warm", "first"], 2]);
    end(next);
    expect(next.of("turn-ended")).toHaveLength(2);
  });

  test("[KP3] recorded by a keeper that did not live to write it: outcome unknown, told, and never sent again", () => {
    const { world, ann } = warmedUp();
    world.one.fifo.room = 10;
    ann.prompt("first", { session: "work" });
    world.machine.advance(50);
    world.one.fifo.room = Number.POSITIVE_INFINITY;
    const next = world.takeover({ keeper: true });
    next.machine.advance(100);
    expect(prompts(next)).toEqual(["warm"]);
    expect(next.of("turn-ended").at(-1)?.data).toMatchObject({ stopReason: "lost", code: "AGENT_LOST" });
    ann.leave();
    next.client("ann").prompt("next", { session: "work" });
    next.machine.advance(5_100);
    expect(prompts(next)).toEqual(["warm", "next"]);
  });

  test("[KP3] written and answered, only the mark is missing: it is in no doubt, and its turn has its result", () => {
    const { world, promptId } = keptMidTurn();
    end(world);
    // The disk is full from the record on: room for it, and not for the mark.
    world.one.fifo.room = 10;
    const second = world.client("ann").prompt("second", { session: "work" });
    world.machine.advance(5);
    world.machine.files.failWrites(1_000);
    world.one.fifo.room = Number.POSITIVE_INFINITY;
    world.machine.advance(5);
    expect(prompts(world)).toEqual(["first", "second"]);
    world.process.kill();
    world.agent.answer("session/prompt", END_TURN);
    world.keep.keepers.at(-1)?.kill();
    world.machine.files.failWrites(0);
    // It stands in the file, and nobody has looked yet when the doubt is told.
    world.keep.tailLagMs = 50;
    const next = world.takeover();
    next.machine.advance(100);
    expect(second.session).toBe("work");
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn", "end_turn"]);
    expect(next.of("turn-ended")[0]?.data["promptId"]).toBe(promptId);
  });

  test("[KP6] the same while the host lives: the keeper dies in the middle of a prompt, and its turn is told as lost", () => {
    const { world, ann } = warmedUp();
    world.one.fifo.room = 10;
    ann.prompt("first", { session: "work" });
    world.machine.advance(50);
    world.keep.keepers.at(-1)?.kill();
    world.one.fifo.room = Number.POSITIVE_INFINITY;
    world.machine.advance(200);
    expect([prompts(world), world.of("turn-ended").at(-1)?.data["stopReason"]]).toEqual([["warm"], "lost"]);
  });

  test("[KP3] ids tell which host asked, and no two requests share one", () => {
    const { world, viewer } = keptMidTurn();
    viewer.prompt("second", { session: "work" });
    const next = world.takeover();
    end(next);
    const ids = next.agent.heard.filter(({ method }) => method !== undefined).map(({ id }) => Number(id));
    expect(new Set(ids).size).toBe(ids.length);
    expect([Math.floor(Math.min(...ids) / 1_000_000), Math.floor(Math.max(...ids) / 1_000_000)]).toEqual([1, 2]);
  });
});

describe("an agent that is gone", () => {
  test("[KP4] died with its host: all it said is in the journal, the turn is told as lost, the session is restored", () => {
    const { world, acpId } = keptMidTurn();
    world.process.kill();
    world.agent.text(acpId, "last words");
    const next = world.takeover({ agent: true });
    next.machine.advance(200);
    expect(next.texts()).toEqual(["last words"]);
    expect(next.of("agent-exited")).toHaveLength(1);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["lost"]);
    const types = next.types();
    expect(types.indexOf("update")).toBeLessThan(types.indexOf("agent-exited"));
    next.client("ann").prompt("again", { session: "work" });
    next.machine.until(() => next.keep.agents.all.length === 2 && next.agent.asked("session/prompt").length === 1);
    expect(next.agent.asked("session/resume")[0]?.params).toMatchObject({ sessionId: acpId });
  });

  test("[KP4] agent, keeper and host died together: the same, and nothing of the old place is left", () => {
    const { world, acpId } = keptMidTurn();
    world.process.kill();
    world.agent.text(acpId, "last words");
    const next = world.takeover({ agent: true, keeper: true });
    next.machine.advance(20_000);
    expect([next.texts(), next.of("turn-ended").map(({ data }) => data["stopReason"])]).toEqual([
      ["last words"],
      ["lost"],
    ]);
    expect(next.machine.files.list("/state/keepers")).toEqual([]);
  });

  test("[KP4] that had answered before it died: the turn has its result, it is not lost", () => {
    const { world, acpId } = keptMidTurn();
    world.process.kill();
    world.agent.text(acpId, "done");
    world.agent.answer("session/prompt", END_TURN);
    const next = world.takeover({ agent: true });
    next.machine.advance(200);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn"]);
  });

  test("[KP4] what was queued behind the lost turn is sent to the next process", () => {
    const { world, viewer } = keptMidTurn();
    viewer.prompt("second", { session: "work" });
    const next = world.takeover({ agent: true });
    next.machine.until(() => next.keep.agents.all.length === 2 && next.agent.asked("session/prompt").length === 1);
    expect(prompts(next)).toEqual(["second"]);
  });

  test("[KP7] that was told to end is seen to its end and never used again", () => {
    const { world } = keptMidTurn({ ignores: ["EOF", "SIGTERM"] });
    end(world);
    void world.service.endAgents();
    world.machine.advance(100);
    const next = world.takeover();
    next.client("ann").prompt("again", { session: "work" });
    next.machine.advance(30_000);
    expect(next.keep.agents.all.map(({ alive }) => alive)).toEqual([false, true]);
    expect(prompts(next)).toEqual(["again"]);
  });
});

describe("a permission request", () => {
  test("[KP4] open while the host dies: on record once, shown by the next host, answered once", () => {
    const { world, viewer, acpId } = keptMidTurn();
    askPermission(world, acpId);
    const next = world.takeover();
    expect(next.of("permission-requested")).toHaveLength(1);
    expect(next.service.infos()).toMatchObject([{ turn: "waiting" }]);
    const ann = reattach(next, viewer);
    const permissionId = String(ann.of("permission-requested")[0]?.data["permissionId"]);
    ann.done({ verb: "answer", session: "work", permissionId, optionId: "y" });
    next.machine.advance(5);
    expect(answers(next)).toEqual([{ outcome: { outcome: "selected", optionId: "y" } }]);
    const third = next.takeover();
    expect([answers(third).length, third.of("permission-resolved").length]).toEqual([1, 1]);
    expect(third.service.infos()).toMatchObject([{ turn: "running" }]);
  });

  test("[KP4] asked while nobody was host is shown by the next one", () => {
    const { world, acpId } = keptMidTurn();
    world.process.kill();
    askPermission(world, acpId, "of-the-gap");
    const next = world.takeover();
    expect(next.of("permission-requested")).toHaveLength(1);
    expect(next.service.infos()).toMatchObject([{ turn: "waiting" }]);
  });

  test("[KP4] answered, and the answer never sent: sent again with the same outcome, on record once", () => {
    const { world, viewer, acpId } = keptMidTurn();
    askPermission(world, acpId);
    const permissionId = String(viewer.of("permission-requested")[0]?.data["permissionId"]);
    void viewer.ask({ verb: "answer", session: "work", permissionId, optionId: "n" });
    world.machine.until(() => world.of("permission-resolved").length === 1);
    expect(answers(world)).toEqual([]);
    const next = world.takeover({ keeper: true });
    next.machine.advance(100);
    expect(answers(next)).toEqual([{ outcome: { outcome: "selected", optionId: "n" } }]);
    expect(next.of("permission-resolved")).toHaveLength(1);
    expect(next.service.infos()).toMatchObject([{ turn: "running" }]);
  });

  test("[SE4] [KP3] an id that the agent uses again is another question: it is asked anew, and its answer arrives", () => {
    const { world, viewer, acpId } = keptMidTurn();
    const answer = (by: typeof viewer, optionId: string): void => {
      const permissionId = String(by.of("permission-requested").at(-1)?.data["permissionId"]);
      by.done({ verb: "answer", session: "work", permissionId, optionId });
    };
    askPermission(world, acpId);
    answer(viewer, "y");
    world.machine.advance(5);
    askPermission(world, acpId);
    expect([world.of("permission-requested").length, world.service.infos()[0]?.turn]).toEqual([2, "waiting"]);
    answer(viewer, "n");
    world.machine.advance(5);
    const selected = ["y", "n"].map((optionId) => ({ outcome: { outcome: "selected", optionId } }));
    expect(answers(world)).toEqual(selected);

    // The next host reads both again, and knows each.
    const next = world.takeover();
    expect([answers(next).length, next.of("permission-requested").length]).toEqual([2, 2]);
    askPermission(next, acpId);
    expect([next.of("permission-requested").length, next.service.infos()[0]?.turn]).toEqual([3, "waiting"]);
    answer(reattach(next, viewer), "y");
    next.machine.advance(5);
    expect(answers(next)).toEqual([...selected, { outcome: { outcome: "selected", optionId: "y" } }]);
  });

  test("[KP10] asked under a host of the first release, which knew it by its id alone: it is the same question", () => {
    const { world, acpId } = keptMidTurn();
    askPermission(world, acpId);
    const path = world.machine.files.list("/state/sessions").find((name) => name.endsWith(".ndjson"));
    const file = `/state/sessions/${path}`;
    const text = world.machine.files.texts.get(file) ?? "";
    expect(text).toMatch(/"permissionId":"[^"]*:77@\d+"/);
    world.process.kill();
    world.machine.files.replace(file, text.replace(/("permissionId":"[^@]*)@\d+"/g, '$1"'));
    const next = world.takeover();
    expect(next.of("permission-requested")).toHaveLength(1);
    expect(next.service.infos()).toMatchObject([{ turn: "waiting" }]);
  });

  test("[KP4] decided by the turn's own policy under the next host", () => {
    const { world, acpId } = keptMidTurn({}, "allow");
    world.process.kill();
    askPermission(world, acpId);
    const next = world.takeover();
    expect(answers(next)).toEqual([{ outcome: { outcome: "selected", optionId: "y" } }]);
  });

  test("[KP4] of an agent that died is taken back, and nobody is asked for ever", () => {
    const { world, acpId } = keptMidTurn();
    askPermission(world, acpId);
    const next = world.takeover({ agent: true });
    next.machine.advance(200);
    expect(next.of("permission-resolved").map(({ data }) => [data["outcome"], data["by"]])).toEqual([
      ["cancelled", "agent"],
    ]);
  });
});

describe("what was said", () => {
  test("[KP2] fifty takeovers at any moment, with lines torn anywhere: every word once and in order", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const dice = createDice(seed);
      const { world, acpId } = keptMidTurn();
      let host: KeptWorld = world;
      const said: string[] = [];
      for (let step = 0; step < 40; step++) {
        const text = `${seed}.${step}`;
        said.push(text);
        const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
        const line = `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: acpId, update } })}\n`;
        const cut = dice.whole(0, line.length);
        host.keep.append(host.one, line.slice(0, cut));
        if (dice.chance(0.5)) host.machine.advance(dice.between(0, 2));
        if (dice.chance(0.3)) host = host.takeover({ keeper: dice.chance(0.3), waitMs: dice.between(0, 5) });
        host.keep.append(host.one, line.slice(cut));
        if (dice.chance(0.5)) host.machine.advance(dice.between(0, 2));
      }
      host = host.takeover();
      end(host);
      expect({ seed, texts: host.texts() }).toEqual({ seed, texts: said });
      expect({ seed, ended: host.of("turn-ended").length, seqs: seqs(host.journal("work")) }).toEqual({
        seed,
        ended: 1,
        seqs: host.journal("work").map((_, index) => index + 1),
      });
    }
  });

  test("[KP4] words about a session whose name is not told yet are not lost with the host", () => {
    const world = openKept({ replies: { "session/new": () => undefined } });
    world.client("ann").prompt("first", { session: "work" });
    world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("session/new").length === 1);
    world.agent.text("acp-early", "early");
    world.machine.advance(5);
    const next = world.takeover();
    next.agent.answer("session/new", { result: { sessionId: "acp-early" } });
    next.machine.advance(20);
    expect([next.texts(), prompts(next)]).toEqual([["early"], ["first"]]);
    const third = next.takeover();
    expect(third.texts()).toEqual(["early"]);
  });

  test("[KP4] two sessions of one agent: each has its own words, and both go on", () => {
    const { world, acpId } = keptMidTurn();
    world.client("bob").prompt("other", { session: "other" });
    world.machine.until(() => world.agent.asked("session/prompt").length === 2);
    const other = String(world.agent.asked("session/prompt")[1]?.params?.["sessionId"]);
    world.agent.text(acpId, "w1");
    world.agent.text(other, "o1");
    world.machine.advance(5);
    world.process.kill();
    world.agent.text(other, "o2");
    world.agent.text(acpId, "w2");
    const next = world.takeover();
    next.agent.text(acpId, "w3");
    next.machine.advance(5);
    expect([next.texts(), next.texts("other")]).toEqual([
      ["w1", "w2", "w3"],
      ["o1", "o2"],
    ]);
    expect(next.service.infos().map(({ turn }) => turn)).toEqual(["running", "running"]);
  });
});

describe("what was in flight", () => {
  test("[KP4] initialize is not asked twice", () => {
    const world = openKept({ replies: { initialize: () => undefined } });
    world.client("ann").prompt("first", { session: "work" });
    world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("initialize").length === 1);
    const next = world.takeover();
    next.agent.answer("initialize", initialized(CAPABILITIES) as { result: unknown });
    next.machine.advance(20);
    expect([next.agent.asked("initialize").length, prompts(next), next.keep.agents.all.length]).toEqual([
      1,
      ["first"],
      1,
    ]);
  });

  test("[KP4] session/new is not asked twice, whether its answer comes before or after the takeover", () => {
    for (const early of [true, false]) {
      const world = openKept({ replies: { "session/new": () => undefined } });
      world.client("ann").prompt("first", { session: "work" });
      world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("session/new").length === 1);
      world.process.kill();
      if (early) world.agent.answer("session/new", { result: { sessionId: "acp-x" } });
      const next = world.takeover();
      if (!early) next.agent.answer("session/new", { result: { sessionId: "acp-x" } });
      next.machine.advance(20);
      expect([next.agent.asked("session/new").length, prompts(next), next.of("session-opened").length]).toEqual([
        1,
        ["first"],
        1,
      ]);
    }
  });

  test("[KP4] an initialize that is never answered fails under the next host too, it does not hang", () => {
    const world = openKept({ replies: { initialize: () => undefined } });
    world.client("ann").prompt("first", { session: "work" });
    world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("initialize").length === 1);
    const next = world.takeover();
    next.machine.advance(120_000);
    expect(next.of("turn-ended").map(({ data }) => data["code"])).toEqual(["AGENT_FAILED"]);
  });

  test("[KP4] the replay of a session/load stays left out, also when the host dies in the middle of it", () => {
    const { world, acpId } = keptMidTurn({
      replies: {
        initialize: () => initialized({ loadSession: true }),
        "session/load": () => undefined,
      },
    });
    world.agent.text(acpId, "live");
    end(world);
    world.agent.exit(1);
    world.machine.advance(100);
    world.client("ann").prompt("second", { session: "work", promptId: newPromptId() });
    world.machine.until(
      () => world.keep.agents.all.length === 2 && world.agent.asked("session/load").length > 0,
      120_000,
    );
    world.agent.text(acpId, "replayed 1");
    world.machine.advance(5);
    const next = world.takeover();
    next.agent.text(acpId, "replayed 2");
    next.machine.advance(5);
    for (const load of next.agent.asked("session/load")) next.agent.say({ jsonrpc: "2.0", id: load.id, result: {} });
    next.agent.text(acpId, "replayed 3");
    next.machine.advance(50);
    expect(prompts(next)).toEqual(["second"]);
    next.agent.text(acpId, "new");
    next.machine.advance(5);
    const third = next.takeover();
    expect(third.texts()).toEqual(["live", "new"]);
  });
});

describe("hosts", () => {
  test("[KP8] an old host that only slept is fenced, and records nothing any more", () => {
    const { world, acpId } = keptMidTurn();
    world.process.freeze();
    const next = world.nextHost();
    next.machine.wait(next.client("probe").ask({ verb: "sessions" }));
    next.machine.advance(10);
    next.agent.text(acpId, "word");
    next.machine.advance(5);
    world.process.thaw();
    next.machine.advance(5_000);
    expect([world.fenced, next.fenced, next.texts()]).toEqual([1, 0, ["word"]]);
    expect(seqs(next.journal("work"))).toEqual(next.journal("work").map((_, index) => index + 1));
  });

  test("[KP8] a host that leaves in order leaves a working agent to its keeper, and ends an idle one", () => {
    const { world } = keptMidTurn();
    world.machine.wait(world.service.leave(false));
    world.machine.wait(world.service.end());
    expect([world.agent.alive, world.agent.done]).toEqual([true, []]);
    const next = world.takeover();
    end(next);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn"]);
    next.machine.wait(next.service.leave(false));
    next.machine.wait(next.service.end());
    next.machine.advance(2_000);
    expect([next.agent.alive, next.machine.files.list("/state/keepers")]).toEqual([false, []]);
  });
});

describe("a session that comes back into use", () => {
  test("[KP4] closed and watched, then prompted again: the next host knows it, and its turn goes on", () => {
    const { world, ann } = warmedUp();
    const bob = world.client("bob");
    ann.done({ verb: "close", session: "work" });
    bob.attach("work");
    ann.prompt("first", { session: "work" });
    world.machine.until(() => prompts(world).includes("first"));
    const next = world.takeover();
    expect(next.service.infos()).toMatchObject([{ name: "work", turn: "running" }]);
    end(next);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn", "end_turn"]);
    expect(prompts(next)).toEqual(["warm", "first"]);
  });

  test("[KP4] [SC14] a journal that could not be read for a moment: brought back by its name, its turn goes on", () => {
    const { world, acpId } = keptMidTurn();
    world.process.kill();
    const { journal, readPrivate } = world.machine.files;
    const refuse = (path: string): void => {
      if (path.includes("sessions/work.")) throw new Error("EMFILE: too many open files");
    };
    world.machine.files.journal = (path) => {
      refuse(path);
      return journal(path);
    };
    world.machine.files.readPrivate = (path) => {
      refuse(path);
      return readPrivate(path);
    };
    const next = world.takeover();
    Object.assign(world.machine.files, { journal, readPrivate });
    expect(next.service.infos()).toEqual([]);
    reattach(next, world.client("ann"));
    next.agent.text(acpId, "word");
    next.machine.advance(5);
    end(next);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["end_turn"]);
    expect(next.texts()).toEqual(["word"]);
  });

  test("[SE4] [KP4] an answer that comes before the next host has read its question counts when it has", () => {
    const { world, acpId } = keptMidTurn();
    askPermission(world, acpId);
    const permissionId = String(world.of("permission-requested")[0]?.data["permissionId"]);
    world.process.kill();
    world.keep.tailLagMs = 50;
    const next = world.takeover();
    expect(next.service.infos()).toMatchObject([{ turn: "running" }]);
    next.client("ann").done({ verb: "answer", session: "work", permissionId, optionId: "y" });
    next.machine.advance(100);
    expect(answers(next)).toEqual([{ outcome: { outcome: "selected", optionId: "y" } }]);
    expect(next.of("permission-resolved").map(({ data }) => data["by"])).toEqual(["ann"]);
  });
});

describe("an early answer", () => {
  test("[SE6] [SE4] counts no more when the turn is cancelled meanwhile", () => {
    const { world, acpId } = keptMidTurn();
    askPermission(world, acpId);
    const permissionId = String(world.of("permission-requested")[0]?.data["permissionId"]);
    world.process.kill();
    world.keep.tailLagMs = 50;
    const next = world.takeover();
    const ann = next.client("ann");
    ann.done({ verb: "answer", session: "work", permissionId, optionId: "y" });
    ann.done({ verb: "cancel", session: "work" });
    next.machine.advance(100);
    expect(answers(next)).toEqual([{ outcome: { outcome: "cancelled" } }]);
  });
});

describe("a turn that was told unknown", () => {
  test("[KP3] and runs all the same is cancelled before the next one begins: its words stand in no later turn", () => {
    const { world, ann } = warmedUp();
    // Recorded and written, but its keeper dies before the mark: the next one cannot know that the agent has it.
    const acpId = String(world.agent.asked("session/prompt")[0]?.params?.["sessionId"]);
    ann.prompt("first", { session: "work" });
    world.machine.until(() => prompts(world).includes("first"));
    const log = world.one.place.inputLog;
    const texts = world.machine.files.texts as Map<string, string>;
    const lines = (texts.get(log) ?? "").split("\n").filter(Boolean);
    const key = String(JSON.parse(lines.findLast((each) => each.includes("first")) ?? "{}").key);
    texts.set(
      log,
      lines
        .filter((each) => !each.includes(`"done":"${key}"`))
        .map((each) => `${each}\n`)
        .join(""),
    );
    const next = world.takeover({ keeper: true });
    next.machine.until(() => next.of("turn-ended").length === 2);
    expect(next.of("turn-ended").at(-1)?.data).toMatchObject({ stopReason: "lost" });
    next.client("ann").prompt("second", { session: "work" });
    next.machine.advance(50);
    expect(prompts(next)).toEqual(["warm", "first"]);
    expect(next.agent.heard.filter(({ method }) => method === "session/cancel")).toHaveLength(1);
    next.agent.text(acpId, "late");
    end(next);
    next.machine.advance(50);
    expect(prompts(next)).toEqual(["warm", "first", "second"]);
    next.agent.text(acpId, "own");
    end(next);
    const types = next.types().slice(next.types().lastIndexOf("prompt"));
    expect(types.filter((type) => !type.startsWith("idle"))).toEqual([
      "prompt",
      "update",
      "turn-started",
      "update",
      "turn-ended",
    ]);
    expect(next.texts().slice(-2)).toEqual(["late", "own"]);
  });

  test("[KP3] an agent that never got it, or never answers, keeps the next turn waiting for five seconds at most", () => {
    const { world, ann } = warmedUp();
    world.one.fifo.room = 10;
    ann.prompt("first", { session: "work" });
    world.machine.advance(50);
    world.one.fifo.room = Number.POSITIVE_INFINITY;
    const next = world.takeover({ keeper: true });
    next.client("ann").prompt("second", { session: "work" });
    next.machine.advance(5_100);
    expect(prompts(next)).toEqual(["warm", "second"]);
  });
});

describe("what a person decided", () => {
  test("[SE6] a prompt that was cancelled before the agent had it is not sent by the next host", () => {
    const world = openKept({ replies: { initialize: () => undefined } });
    const ann = world.client("ann");
    ann.prompt("first", { session: "work" });
    world.machine.until(() => world.keep.held.length > 0);
    expect(ann.done({ verb: "cancel", session: "work" })).toEqual({ cancelled: true });
    world.keep.agents.options = {};
    const next = world.takeover();
    next.machine.advance(40_000);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["cancelled"]);
    expect(next.keep.agents.all.flatMap((agent) => agent.asked("session/prompt"))).toEqual([]);
  });

  test("[SE4] [KP9] on a full disk an answer and a withdrawal are acknowledged when they are on record, or end as a loss", () => {
    const { world, acpId } = keptMidTurn();
    const ann = world.client("ann");
    ann.prompt("second", { session: "work", promptId: "00000002-second" });
    askPermission(world, acpId);
    const permissionId = String(world.of("permission-requested")[0]?.data["permissionId"]);
    world.machine.files.failWrites(1_000_000);
    const codes: string[] = [];
    const note = (asked: Promise<unknown>) =>
      void asked.then(
        () => codes.push("done"),
        (thrown) => codes.push(String(thrown.code)),
      );
    note(ann.ask({ verb: "answer", session: "work", permissionId, optionId: "y" }));
    note(ann.ask({ verb: "withdraw", session: "work", promptId: "00000002-second" }));
    world.machine.advance(3_000);
    expect(codes).toEqual([]);
    world.machine.wait(world.service.leave(true));
    expect(codes).toEqual(["SESSION_DISCONNECTED", "SESSION_DISCONNECTED"]);
  });
});

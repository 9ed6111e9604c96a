// What if an agent lives, and no longer knows a session? It has not run the prompt: restored, and sent once more, once.
import { describe, expect, test } from "bun:test";
import type { FakeAgent, Reply } from "./fake-agent.ts";
import { keptMidTurn, openKept } from "./kept-world.ts";
import { END_TURN, midTurn, openService, type ServiceOptions } from "./service-world.ts";

const UNKNOWN: Reply = { error: { code: -32002, message: "Resource not found" } };
const CRASHED: Reply = { error: { code: -32603, message: "The engine exited with code 137" } };
const textsOf = (agent: FakeAgent) => agent.asked("session/prompt").map(({ params }) => params?.["prompt"]);
const text = (said: string) => [{ type: "text", text: said }];
const methods = (agent: FakeAgent) => agent.heard.flatMap(({ method }) => method ?? []);

/** One process with an engine per session inside, which dies and comes back by resume or load. */
function engine(answer: Reply) {
  let alive = true;
  const options: ServiceOptions = {
    replies: {
      "session/prompt": () => (alive ? answer : UNKNOWN),
      "session/resume"() {
        alive = true;
        return { result: {} };
      },
    },
  };
  return {
    options,
    die() {
      alive = false;
    },
  };
}

describe("an agent that has forgotten a session", () => {
  test("[SE9] between two prompts: the session is restored, the prompt sent once more, and the turn ends well", () => {
    const inner = engine(END_TURN);
    const { machine, client, agents } = openService(inner.options);
    const ann = client("ann");
    ann.prompt("first", { session: "work" });
    ann.attach("work");
    machine.until(() => ann.of("turn-ended").length === 1);
    inner.die();
    ann.prompt("second", { session: "work" });
    machine.until(() => ann.of("turn-ended").length === 2);
    expect(ann.of("turn-ended")[1]?.data).toMatchObject({ stopReason: "end_turn" });
    expect(textsOf(agents.latest)).toEqual([text("first"), text("second"), text("second")]);
    expect(methods(agents.latest).slice(-3)).toEqual(["session/prompt", "session/resume", "session/prompt"]);
    expect(ann.types().slice(-5)).toEqual([
      "turn-started",
      "session-forgotten",
      "restored",
      "turn-started",
      "turn-ended",
    ]);
    expect(String(ann.of("session-forgotten")[0]?.data["message"])).toContain("Resource not found");
    // And the next one costs nothing.
    ann.prompt("third", { session: "work" });
    machine.until(() => ann.of("turn-ended").length === 3);
    expect(textsOf(agents.latest)).toHaveLength(4);
  });

  test("[SE9] always: it is sent twice and not more, and the turn ends as an error", () => {
    const { machine, client, agents } = openService({ replies: { "session/prompt": () => UNKNOWN } });
    const ann = client("ann");
    for (const turn of [1, 2]) {
      ann.prompt(`turn ${turn}`, { session: "work" });
      if (turn === 1) ann.attach("work");
      machine.until(() => ann.of("turn-ended").length === turn);
      machine.advance(60_000);
      expect(ann.of("turn-ended").at(-1)?.data).toMatchObject({ stopReason: "error", code: "AGENT_FAILED" });
      expect(textsOf(agents.latest)).toHaveLength(2 * turn);
    }
  });

  test("[SE9] in the middle of a turn that had begun to speak: what ran is not run again", () => {
    const { machine, viewer, agents, acpId } = midTurn();
    agents.latest.text(acpId, "half a sen");
    agents.latest.answer("session/prompt", UNKNOWN as NonNullable<Reply>);
    machine.until(() => viewer.of("turn-ended").length === 1);
    machine.advance(60_000);
    expect(viewer.of("turn-ended")[0]?.data).toMatchObject({ stopReason: "error" });
    expect(textsOf(agents.latest)).toHaveLength(1);
  });

  test("[SE9] its engine dies in mid-turn: that turn failed, and the next prompt restores the session", () => {
    const inner = engine(undefined);
    const { machine, viewer, agents, acpId } = midTurn(inner.options);
    agents.latest.text(acpId, "half");
    inner.die();
    agents.latest.answer("session/prompt", CRASHED as NonNullable<Reply>);
    machine.until(() => viewer.of("turn-ended").length === 1);
    expect(viewer.of("turn-ended")[0]?.data).toMatchObject({ stopReason: "error" });
    viewer.prompt("second", { session: "work" });
    machine.until(() => agents.latest.asked("session/prompt").length === 3);
    agents.latest.answer("session/prompt", END_TURN);
    machine.until(() => viewer.of("turn-ended").length === 2);
    expect(viewer.of("turn-ended")[1]?.data).toMatchObject({ stopReason: "end_turn" });
    expect(textsOf(agents.latest)).toEqual([text("first"), text("second"), text("second")]);
  });

  test("[SE9] cancelled while it is restored: never sent", () => {
    const { machine, viewer, agents } = midTurn({ replies: { "session/resume": () => undefined } });
    agents.latest.answer("session/prompt", UNKNOWN as NonNullable<Reply>);
    machine.until(() => agents.latest.asked("session/resume").length === 1);
    viewer.done({ verb: "cancel", session: "work" });
    agents.latest.answer("session/resume", { result: {} });
    machine.until(() => viewer.of("turn-ended").length === 1);
    machine.advance(1_000);
    expect(viewer.of("turn-ended")[0]?.data).toMatchObject({ stopReason: "cancelled" });
    expect(textsOf(agents.latest)).toHaveLength(1);
  });

  test("[SE9] what it cannot give back is told as lost context, as after a restart", () => {
    const refuse = () => UNKNOWN;
    const { machine, viewer, agents } = midTurn({ replies: { "session/resume": refuse, "session/load": refuse } });
    agents.latest.answer("session/prompt", UNKNOWN as NonNullable<Reply>);
    machine.until(() => agents.latest.asked("session/prompt").length === 2);
    expect(viewer.of("context-lost")).toHaveLength(1);
  });
});

describe("while hosts come and go", () => {
  const refused = () => {
    const kept = keptMidTurn({ replies: { "session/resume": () => undefined } });
    kept.world.agent.answer("session/prompt", UNKNOWN as NonNullable<Reply>);
    kept.world.machine.until(() => kept.world.agent.asked("session/resume").length === 1);
    return kept;
  };

  test("[SE9] [KP4] the host dies while the session is restored: the next one sends the prompt, once", () => {
    const { world } = refused();
    const next = world.takeover();
    next.machine.until(() => next.agent.asked("session/resume").length >= 1);
    next.agent.answer("session/resume", { result: {} });
    next.machine.until(() => next.agent.asked("session/prompt").length === 2);
    next.agent.answer("session/prompt", END_TURN);
    next.machine.until(() => next.of("turn-ended").length === 1);
    expect([next.of("turn-ended")[0]?.data["stopReason"], next.agent.asked("session/prompt").length]).toEqual([
      "end_turn",
      2,
    ]);
  });

  test("[SE9] [KP4] the host dies while the second one runs: the next one waits for it, and sends none", () => {
    const { world } = refused();
    world.agent.answer("session/resume", { result: {} });
    world.machine.until(() => world.agent.asked("session/prompt").length === 2);
    const next = world.takeover();
    next.machine.advance(60_000);
    expect([next.agent.asked("session/prompt").length, next.of("turn-ended")]).toEqual([2, []]);
    next.agent.answer("session/prompt", END_TURN);
    next.machine.until(() => next.of("turn-ended").length === 1);
    expect(next.of("turn-ended")[0]?.data["stopReason"]).toBe("end_turn");
  });

  test("[SE9] [KP4] the refusal came while there was no host: the next one sends it once more", () => {
    const world = openKept();
    const ann = world.client("ann");
    ann.prompt("first", { session: "work" });
    ann.attach("work");
    world.machine.until(() => world.keep.agents.all.length > 0 && world.agent.asked("session/prompt").length === 1);
    world.machine.advance(5);
    world.process.kill();
    world.agent.answer("session/prompt", UNKNOWN as NonNullable<Reply>);
    const next = world.takeover();
    next.machine.until(() => next.agent.asked("session/prompt").length === 2);
    next.agent.answer("session/prompt", END_TURN);
    next.machine.until(() => next.of("turn-ended").length === 1);
    expect(next.of("turn-ended")[0]?.data["stopReason"]).toBe("end_turn");
  });
});

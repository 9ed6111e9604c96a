// Does holdfast attach show a session from any event on, each once, whoever hosts and however often the host is lost?
import { describe, expect, test } from "bun:test";
import { attach } from "../../src/commands/attach.ts";
import { SessionDisconnectedError } from "../../src/protocol/fault.ts";
import { END_TURN } from "../agents/service-world.ts";
import { openStage, type Running, type Stage } from "./stage.ts";

/** A session with a finished turn of some events. */
function begun(): Stage & { acpId: string } {
  const stage = openStage();
  stage.client("somebody").prompt("hello there", { session: "work" });
  stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
  const acpId = String(stage.agents.latest.asked("session/prompt")[0]?.params?.["sessionId"]);
  for (const text of ["one ", "two ", "three"]) stage.agents.latest.text(acpId, text);
  return { ...stage, acpId };
}

const covered = (running: Running): number[] =>
  running.events().flatMap(({ from, seq }) => {
    const first = from ?? seq;
    return Array.from({ length: seq - first + 1 }, (_, index) => first + index);
  });

describe("attach", () => {
  test("[SE3] prints everything behind --after, once, then live, until it is ended", () => {
    const stage = begun();
    const { machine, agents, acpId } = stage;
    const [all, some] = [
      stage.run(attach, ["work", "--format", "json"]),
      stage.run(attach, ["work", "--after", "4", "--format", "json"]),
    ];
    machine.advance(0);
    agents.latest.text(acpId, " four");
    agents.latest.answer("session/prompt", END_TURN);
    machine.advance(1_000);
    const numbers = covered(all);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(covered(some)).toEqual(numbers.slice(4));
    expect(all.code).toBeUndefined();
    expect(all.events().at(-1)?.type).toBe("turn-ended");
  });

  test("[SE3] a host that is lost and found again is asked for the rest: nothing twice, nothing missing", () => {
    const stage = begun();
    const { machine, agents, acpId } = stage;
    const running = stage.run(attach, ["work", "--format", "json"]);
    machine.advance(0);
    const before = covered(running).length;
    agents.latest.text(acpId, "told by the old host and by the new one");
    machine.advance(0);
    running.answer(() => Promise.reject(new SessionDisconnectedError("")));
    running.tell("host-found", { role: "client", hostPid: 1, tookMs: 1 });
    machine.advance(0);
    running.answer(() => undefined);
    running.tell("host-found", { role: "client", hostPid: 2, tookMs: 1 });
    running.tell("agent-events", { session: "work", events: stage.journal("work").slice(0, 3) });
    running.tell("agent-events", { session: "another", events: [{ seq: 99, at: "", type: "x", data: {} }] });
    machine.advance(0);
    const numbers = covered(running);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(before);
    expect(running.asked.map((each) => ("after" in each ? each.after : -1)).slice(1)).toEqual([before + 1, before + 1]);
  });

  test("[SE5] every event is acknowledged when it was shown: a long session comes in whole", () => {
    const stage = begun();
    const { machine, agents, acpId } = stage;
    for (let number = 0; number < 20_000; number++)
      agents.latest.update(acpId, { sessionUpdate: "plan", entries: [], number });
    const running = stage.run(attach, ["work", "--format", "json"]);
    machine.advance(1_000);
    expect(covered(running).at(-1)).toBe(stage.journal("work").length);
  });

  test("[SE1] [SE3] a session that nobody knows exits 3, an event that was never there exits 2", () => {
    const stage = begun();
    expect(stage.run(attach, ["nobody"]).wait()).toBe(3);
    expect(stage.run(attach, ["work", "--after", "9999"]).wait()).toBe(2);
  });

  test("[SE4] a person who attaches sees the prompts of others, and answers their questions", () => {
    const stage = openStage();
    const { machine, agents } = stage;
    stage.client("somebody").prompt("hello there", { session: "work", policy: "ask" });
    machine.until(() => agents.all[0]?.asked("session/prompt").length === 1);
    agents.latest.say({
      jsonrpc: "2.0",
      id: 5,
      method: "session/request_permission",
      params: {
        sessionId: agents.latest.asked("session/prompt")[0]?.params?.["sessionId"],
        toolCall: { toolCallId: "t", title: "Delete all" },
        options: [{ optionId: "nope", name: "No", kind: "reject_once" }],
      },
    });
    const running = stage.run(attach, ["work"], { typed: ["n"] });
    machine.advance(0);
    expect(running.err()).toContain("> hello there");
    expect(running.err()).toContain("Delete all?  [n] No");
    expect(agents.latest.heard.at(-1)).toMatchObject({ id: 5, result: { outcome: { optionId: "nope" } } });
  });
});

// Is a person asked right? One question at a time, never for what is answered, and not where nobody sits.
import { describe, expect, test } from "bun:test";
import { attach } from "../../src/commands/attach.ts";
import { openStage, type Stage } from "./stage.ts";

function asking(...titles: string[]): Stage {
  const stage = openStage();
  stage.client("somebody").prompt("hello", { session: "work", policy: "ask" });
  stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
  const sessionId = stage.agents.latest.asked("session/prompt")[0]?.params?.["sessionId"];
  for (const title of titles) {
    const options = [
      { optionId: "go", name: "Go", kind: "allow_once" },
      { optionId: "stop", name: "Stop", kind: "reject_once" },
      { optionId: "odd", name: "Odd", kind: "something_new" },
    ];
    stage.agents.latest.say({
      jsonrpc: "2.0",
      id: title,
      method: "session/request_permission",
      params: { sessionId, toolCall: { toolCallId: title, title }, options },
    });
  }
  stage.machine.advance(0);
  return stage;
}

const answersOf = ({ agents }: Stage) =>
  agents.latest.heard.flatMap(({ id, method, result }) =>
    method === undefined ? [[id, (result as { outcome: { optionId?: string } }).outcome.optionId]] : [],
  );

describe("the dialog", () => {
  test("[SE4] [SC5] asks one question at a time: one line typed answers one of them", () => {
    const stage = asking("Read it", "Delete it");
    const running = stage.run(attach, ["work"], { typed: ["y"] });
    stage.machine.advance(10);
    expect(answersOf(stage)).toEqual([["Read it", "go"]]);
    expect(running.err()).toContain("Delete it?");
    expect(stage.service.infos()[0]?.turn).toBe("waiting");
  });

  test("[SE4] [AC4] takes keys by kind, option ids as they are, and asks again for anything else", () => {
    const stage = asking("A", "B", "C");
    const running = stage.run(attach, ["work"], { typed: ["", "yes", "n", "odd", "go"] });
    stage.machine.advance(10);
    expect(answersOf(stage)).toEqual([
      ["A", "stop"],
      ["B", "odd"],
      ["C", "go"],
    ]);
    expect(running.err().match(/A\?/g)).toHaveLength(3);
    expect(running.err()).toContain("[y] Go  [n] Stop  [odd] Odd");
  });

  test("[SE4] does not ask for what was answered long ago", () => {
    const stage = asking("Old one");
    const other = stage.client("other");
    other.attach("work");
    stage.machine.advance(0);
    const permissionId = String(other.of("permission-requested")[0]?.data["permissionId"]);
    other.done({ verb: "answer", session: "work", permissionId, optionId: "stop" });
    const running = stage.run(attach, ["work"], { typed: ["y"] });
    stage.machine.advance(10);
    expect(running.err()).not.toContain("Old one?");
    expect(answersOf(stage)).toEqual([["Old one", "stop"]]);
  });

  test("[SE4] says where to answer when nobody sits here, and answers nothing by itself", () => {
    const stage = asking("Write it");
    const running = stage.run(attach, ["work"]);
    stage.machine.advance(60_000);
    expect(running.err()).toContain("The agent waits for an answer; give it with: holdfast attach work");
    expect(answersOf(stage)).toEqual([]);
  });

  test("[SE4] Ctrl-D is no answer: it is said where the question can be answered, also for the next one", () => {
    const stage = asking("Write it", "Delete it");
    const running = stage.run(attach, ["work"], { typed: [undefined] });
    stage.machine.advance(60_000);
    const said = running.err().match(/The input has ended here; answer it with: holdfast attach work/g);
    expect([answersOf(stage), said?.length]).toEqual([[], 2]);
  });
});

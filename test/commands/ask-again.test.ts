// What becomes of a command whose host goes away in the middle? What may be asked twice is asked again, within its time.
import { describe, expect, test } from "bun:test";
import { agents } from "../../src/commands/agents.ts";
import { attach } from "../../src/commands/attach.ts";
import { cancel } from "../../src/commands/cancel.ts";
import { close } from "../../src/commands/close.ts";
import type { HoldfastCommand } from "../../src/commands/context.ts";
import { exec } from "../../src/commands/exec.ts";
import { keep } from "../../src/commands/keep.ts";
import { logs } from "../../src/commands/logs.ts";
import { prompt } from "../../src/commands/prompt.ts";
import { prune } from "../../src/commands/prune.ts";
import { read } from "../../src/commands/read.ts";
import { reconnect } from "../../src/commands/reconnect.ts";
import { sessions } from "../../src/commands/sessions.ts";
import { status } from "../../src/commands/status.ts";
import { HostUnreachableError, SessionDisconnectedError } from "../../src/protocol/fault.ts";
import { openStage, type Running, type Stage } from "./stage.ts";

function midTurn(): Stage {
  const stage = openStage();
  stage.client("somebody").prompt("hello", { session: "work" });
  stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
  return stage;
}

/** The host dies with the first questions; nobody hosts until the test says so. */
function loseHost(running: Running): { found(): void; nobodyComes(): void } {
  let isLost = true;
  running.answer(() => {
    if (!isLost) return undefined;
    running.tell("host-lost", { hung: false, hostPid: 1 });
    return Promise.reject(new SessionDisconnectedError("", "its host went away"));
  });
  return {
    found() {
      isLost = false;
      running.tell("host-found", { role: "client", hostPid: 2, tookMs: 1 });
    },
    nobodyComes: () => running.tell("ended", { error: new HostUnreachableError("127.0.0.1", 1, "none is running") }),
  };
}

const AGAIN: [HoldfastCommand, string[]][] = [
  [sessions, []],
  [sessions, ["--all"]],
  [status, []],
  [agents, []],
  [read, ["work"]],
  [keep, ["work"]],
  [close, ["work"]],
  [prune, []],
];

describe("a host that is lost in the middle", () => {
  for (const [command, words] of AGAIN) {
    const line = [command.name, ...words].join(" ");

    test(`[CM10] ${line} is asked again on the next host`, () => {
      const stage = midTurn();
      const running = stage.run(command, words);
      const host = loseHost(running);
      stage.machine.advance(1_000);
      expect(running.code).toBeUndefined();
      host.found();
      expect([running.wait(), running.thrown]).toEqual([0, undefined]);
    });

    test(`[CM10] [CM3] ${line} ends with 4 when nobody comes, and with 6 when that takes longer than its time`, () => {
      const stage = midTurn();
      const alone = stage.run(command, words);
      const host = loseHost(alone);
      stage.machine.advance(100);
      host.nobodyComes();
      expect([alone.wait(), String(alone.thrown)]).toEqual([4, expect.stringContaining("none is running")]);
      const late = stage.run(command, [...words, "--timeout", "3s"]);
      loseHost(late);
      expect(late.wait(4_000)).toBe(6);
    });
  }

  test("[CM10] nobody asks over and over while there is no host, nor one that leaves and answers still", () => {
    const stage = midTurn();
    const without = stage.run(sessions, []);
    loseHost(without);
    stage.machine.advance(20_000);
    expect(without.asked.length).toBe(1);
    const leaving = stage.run(sessions, []);
    leaving.answer(() => Promise.reject(new SessionDisconnectedError("", "the host is shutting down")));
    stage.machine.advance(1_000);
    expect(leaving.asked.length).toBeLessThan(20);
  });

  test("[CM10] cancel asked twice ends the turn that was meant, and not the one that waited behind it", () => {
    const stage = midTurn();
    const other = stage.client("other");
    other.prompt("next", { session: "work" });
    const running = stage.run(cancel, ["work"]);
    let isLost = false;
    running.answer((request) => {
      if (request.verb !== "cancel" || isLost) return undefined;
      isLost = true;
      // It was taken; its answer was not.
      void stage.service.asked({ clientId: "lost", events() {} }, request);
      stage.agents.latest.answer("session/prompt", { result: { stopReason: "cancelled" } });
      running.tell("host-lost", { hung: false, hostPid: 1 });
      return Promise.reject(new SessionDisconnectedError("", "its host went away"));
    });
    stage.machine.until(() => stage.agents.latest.asked("session/prompt").length === 2);
    running.tell("host-found", { role: "client", hostPid: 2, tookMs: 1 });
    expect([running.wait(), running.out()]).toEqual([0, "The turn in work was cancelled\n"]);
    stage.machine.advance(1_000);
    const cancels = stage.agents.latest.heard.filter(({ method }) => method === "session/cancel");
    expect([cancels.length, stage.service.infos()[0]?.turn]).toEqual([1, "running"]);
  });

  test("[CM3] what would be done twice is not asked again: reconnect ends with 5", () => {
    const stage = midTurn();
    const running = stage.run(reconnect, ["claude-code"]);
    loseHost(running);
    expect(running.wait()).toBe(5);
  });
});

describe("--timeout", () => {
  const CONNECTING: [HoldfastCommand, string[]][] = [
    [attach, ["work"]],
    [prompt, ["claude-code", "hi"]],
    [sessions, []],
    [sessions, ["--watch"]],
    [status, []],
    [status, ["--watch"]],
    [read, ["work"]],
    [cancel, ["work"]],
    [exec, ["1"]],
    [logs, []],
    [logs, ["--follow"]],
  ];
  for (const [command, words] of CONNECTING) {
    test(`[CM10] [CM3] ${[command.name, ...words].join(" ")}: connecting counts too, exit 6`, () => {
      const running = openStage().run(command, [...words, "--timeout", "2s"], { neverConnects: true });
      expect(running.wait(3_000)).toBe(6);
    });
  }

  test("[CM10] attach --timeout ends also where a host takes the question and never answers", () => {
    const running = midTurn().run(attach, ["work", "--timeout", "2s"]);
    running.answer(() => new Promise(() => {}));
    expect(running.wait(3_000)).toBe(6);
  });
});

describe("prompt", () => {
  test("[CM10] [CM3] a prompt that no host has taken was not sent: exit 4, and that is said", () => {
    const stage = openStage();
    const running = stage.run(prompt, ["claude-code", "hi"]);
    running.answer(() => Promise.reject(new SessionDisconnectedError("", "the host is shutting down")));
    stage.machine.advance(10);
    running.tell("ended", { error: new HostUnreachableError("127.0.0.1", 1, "none is running") });
    expect([running.wait(), String(running.thrown)]).toEqual([4, expect.stringContaining("the prompt was not sent")]);
  });

  test("[CM10] [CM3] a prompt that was on its way when the last host went: exit 5, the outcome is unknown", () => {
    const stage = openStage();
    const running = stage.run(prompt, ["claude-code", "hi"]);
    const host = loseHost(running);
    stage.machine.advance(10);
    host.nobodyComes();
    expect([running.wait(), String(running.thrown)]).toEqual([5, expect.stringContaining("outcome is unknown")]);
  });

  test("[CM10] [CM3] a turn that runs when the last host goes: exit 5, the outcome is unknown", () => {
    const stage = openStage();
    const running = stage.run(prompt, ["claude-code", "hi"]);
    stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
    running.answer(() => Promise.reject(new SessionDisconnectedError("", "its host went away")));
    running.tell("host-lost", { hung: false, hostPid: 1 });
    running.tell("ended", { error: new HostUnreachableError("127.0.0.1", 1, "none is running") });
    expect([running.wait(), String(running.thrown)]).toEqual([5, expect.stringContaining("outcome is unknown")]);
  });

  test("[CM10] a turn that ended by itself when its time was over is done, and not cancelled", () => {
    const stage = openStage();
    const running = stage.run(prompt, ["claude-code", "hi", "--timeout", "2s"]);
    stage.machine.until(() => stage.agents.latest.heard.at(-1)?.method === "session/cancel");
    stage.agents.latest.answer("session/prompt", { result: { stopReason: "end_turn" } });
    expect(running.wait()).toBe(0);
  });

  test("[CM10] [CM3] a prompt that still waits when its time is over is withdrawn, and that is said", () => {
    const stage = midTurn();
    const running = stage.run(prompt, ["claude-code", "hi", "-s", "work", "--timeout", "2s"]);
    expect(running.wait(3_000)).toBe(6);
    expect(String(running.thrown)).toContain("still waited in the queue");
    expect(String(running.thrown)).not.toContain("took longer");
    expect(stage.service.infos()[0]).toMatchObject({ turn: "running", queued: 0 });
  });
});

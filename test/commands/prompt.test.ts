// Does holdfast prompt say what the agent said, and end as the turn did? On stdout the answer, all else on stderr.
import { describe, expect, test } from "bun:test";
import { prompt } from "../../src/commands/prompt.ts";
import { SessionDisconnectedError } from "../../src/protocol/fault.ts";
import type { FakeAgent, Replies } from "../agents/fake-agent.ts";
import { END_TURN } from "../agents/service-world.ts";
import { openStage } from "./stage.ts";

/** An agent that says this and ends its turn so. */
const saying = (texts: readonly string[], end: object = END_TURN): { replies: Replies } => ({
  replies: {
    "session/prompt"({ sessionId }, agent) {
      for (const text of texts) agent.text(String(sessionId), text);
      return end as typeof END_TURN;
    },
  },
});

const ask = (agent: FakeAgent, sessionId: unknown): void =>
  agent.say({
    jsonrpc: "2.0",
    id: "p",
    method: "session/request_permission",
    params: {
      sessionId,
      toolCall: { toolCallId: "t", title: "Write notes", kind: "edit" },
      options: [
        { optionId: "go", name: "Go", kind: "allow_once" },
        { optionId: "stop", name: "Stop", kind: "reject_once" },
      ],
    },
  });

const askingAgent: { replies: Replies } = {
  replies: {
    "session/prompt"({ sessionId }, agent) {
      ask(agent, sessionId);
      return undefined;
    },
  },
};

describe("output", () => {
  test("[SE1] in a pipe only the answer is on stdout; the fresh session is closed at the end", () => {
    const stage = openStage(saying(["Hel", "lo\n"]));
    const running = stage.run(prompt, ["claude-code", "hi"]);
    expect(running.wait()).toBe(0);
    expect(running.out()).toBe("Hello\n");
    expect(running.asked.map(({ verb }) => verb)).toEqual(["prompt"]);
    expect(stage.service.infos()).toEqual([]);
    expect(stage.agents.latest.asked("session/close")).toHaveLength(1);
  });

  test("[SE3] a host that attaches nobody by itself is asked to: each event once", () => {
    const stage = openStage(saying(["Hel", "lo\n"]));
    const running = stage.run(prompt, ["claude-code", "hi"]);
    running.answer((request) => {
      if (request.verb !== "prompt") return undefined;
      const { attach: _, closes: _too, ...older } = request;
      return stage.service.asked({ clientId: "older", events() {} }, older);
    });
    expect([running.wait(), running.out()]).toEqual([0, "Hello\n"]);
    expect(running.asked.map(({ verb }) => verb)).toEqual(["prompt", "attach", "close"]);
  });

  test("[SE3] [KP5] a host that is lost right behind its answer: the next one is asked for all that it said", () => {
    const stage = openStage(saying(["Hel", "lo\n"]));
    const running = stage.run(prompt, ["claude-code", "hi"]);
    running.answer((request) =>
      request.verb === "prompt" ? stage.service.asked({ clientId: "lost", events() {} }, request) : undefined,
    );
    stage.machine.advance(1);
    running.tell("host-lost", { hung: false, hostPid: 1 });
    running.tell("host-found", { role: "client", hostPid: 2, tookMs: 1 });
    expect([running.wait(), running.out()]).toEqual([0, "Hello\n"]);
    expect(running.asked.map(({ verb }) => verb)).toEqual(["prompt", "attach"]);
  });

  test("[KP5] a host that is lost before it answers: all that the next one says at once is shown", () => {
    const stage = openStage(saying(["Hel", "lo\n"]));
    const running = stage.run(prompt, ["claude-code", "hi"]);
    let lost = false;
    running.answer((request) => {
      if (request.verb !== "prompt" || lost) return undefined;
      lost = true;
      running.tell("agent-events", { session: "none", events: [] });
      running.tell("host-lost", { hung: false, hostPid: 1 });
      return Promise.reject(new SessionDisconnectedError("", "its host went away"));
    });
    stage.machine.until(() => lost);
    running.tell("host-found", { role: "client", hostPid: 2, tookMs: 1 });
    expect([running.wait(), running.out()]).toEqual([0, "Hello\n"]);
    expect(running.asked.map(({ verb }) => verb)).toEqual(["prompt", "prompt"]);
  });

  test("[SE1] a session with a name stays, and --detach prints the name and returns", () => {
    const stage = openStage(saying(["ok\n"]));
    expect(stage.run(prompt, ["claude-code", "hi", "--session", "work"]).wait()).toBe(0);
    expect(stage.service.infos().map(({ name }) => name)).toEqual(["work"]);
    const detached = stage.run(prompt, ["claude-code", "hi", "--detach", "-s", "other"]);
    expect([detached.wait(), detached.out()]).toEqual([0, "other\n"]);
    expect(detached.asked.map(({ verb }) => verb)).toEqual(["prompt"]);
  });

  test("[SE3] [SE5] --format json gives the session's events, one per line, each with its number; the last is the end of the turn", () => {
    const stage = openStage(saying(["a", "b", "c"]));
    const running = stage.run(prompt, ["claude-code", "hi", "--format", "json", "-s", "work"]);
    running.wait();
    const events = running.events();
    expect(events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "end_turn" } });
    let next = events[0]?.from ?? events[0]?.seq ?? 0;
    for (const { from, seq } of events) {
      expect(from ?? seq).toBe(next);
      next = seq + 1;
    }
    expect(events.some(({ from }) => from !== undefined)).toBe(true);
  });

  test("[SE4] what other clients asked in the session is no answer to this prompt", () => {
    const stage = openStage();
    const other = stage.client("other");
    other.prompt("theirs", { session: "work" });
    stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
    const running = stage.run(prompt, ["claude-code", "mine", "-s", "work"]);
    stage.machine.advance(0);
    const sessionId = String(stage.agents.latest.asked("session/prompt")[0]?.params?.["sessionId"]);
    stage.agents.latest.text(sessionId, "THEIRS");
    stage.agents.latest.answer("session/prompt", END_TURN);
    stage.machine.until(() => stage.agents.latest.asked("session/prompt").length === 2);
    stage.agents.latest.text(sessionId, "MINE");
    stage.agents.latest.answer("session/prompt", END_TURN);
    expect([running.wait(), running.out()]).toEqual([0, "MINE"]);
  });

  test("[SE1] the text comes from stdin where it is -, and the prompt carries cwd, environment and a fresh id", () => {
    const stage = openStage(saying([]));
    const ids = [1, 2].map(() => {
      const running = stage.run(prompt, ["claude-code"], { stdin: "from a pipe" });
      running.wait();
      const [asked] = running.asked;
      expect(asked).toMatchObject({ text: "from a pipe", cwd: "/work", policy: "deny", detach: false });
      return asked?.verb === "prompt" ? asked.promptId : "";
    });
    expect(new Set(ids).size).toBe(2);
  });
});

describe("bad input", () => {
  test.each([
    [["claude-code", ""], "The prompt is empty"],
    [["claude-code", " \n"], "The prompt is empty"],
    [["claude-code"], "The prompt is empty"],
  ])("[CM4] an empty prompt is never sent: %p", (words, why) => {
    const stage = openStage(saying([]));
    const running = stage.run(prompt, words);
    expect(running.wait()).toBe(2);
    expect(String(running.thrown)).toContain(why);
    expect(running.asked).toEqual([]);
  });

  test("[SE1] a session that is closed before the turn has ended: its outcome is unknown, and nobody waits for ever", () => {
    const stage = openStage();
    const running = stage.run(prompt, ["claude-code", "hi", "-s", "work"]);
    stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
    const closed = { seq: 99, at: "2030", type: "session-closed", data: {} };
    running.tell("agent-events", { session: "work", events: [closed] });
    expect(running.wait()).toBe(5);
    expect(String(running.thrown)).toContain("The session ended before the turn did");
  });
});

describe("exit codes", () => {
  test.each([
    ["max_tokens", 9],
    ["max_turn_requests", 9],
    ["refusal", 1],
    ["cancelled", 1],
    ["something_new", 1],
  ])("[SE6] [SE7] a turn that ends with %s exits %d", (stopReason, code) => {
    const stage = openStage(saying([], { result: { stopReason } }));
    expect(stage.run(prompt, ["claude-code", "hi"]).wait()).toBe(code);
  });

  test("[SE7] an agent that dies in the middle of the turn: what it said is there, the exit is 5, nothing is sent again", () => {
    const stage = openStage({
      replies: {
        "session/prompt"({ sessionId }, agent) {
          agent.text(String(sessionId), "half");
          queueMicrotask(() => agent.exit(1));
          return undefined;
        },
      },
    });
    const running = stage.run(prompt, ["claude-code", "hi", "-s", "work"]);
    expect([running.wait(), running.out()]).toEqual([5, "half"]);
    expect(String(running.thrown)).toContain("the outcome is unknown");
    stage.machine.advance(10_000);
    expect(stage.agents.all.flatMap((agent) => agent.asked("session/prompt"))).toHaveLength(1);
  });

  test("[AM11] an agent that needs a login: exit 7, with what to run", () => {
    const stage = openStage(saying([], { error: { code: -32000, message: "Authentication required" } }));
    const running = stage.run(prompt, ["claude-code", "hi"]);
    expect(running.wait()).toBe(7);
    expect(String(running.thrown)).toContain("Claude Code needs a login (Authentication required)");
    expect(String(running.thrown)).toContain("run: holdfast login claude-code");
  });

  test("[AM3] [CM3] an agent that is not installed or that nobody knows: exit 3, and no session is made", () => {
    const stage = openStage({ missing: true, deps: { which: () => false } });
    const missing = stage.run(prompt, ["claude-code", "hi", "--session", "work"]);
    expect(missing.wait()).toBe(3);
    expect(String(missing.thrown)).toContain("Could not start Claude Code. Check that it's installed.");
    expect(String(missing.thrown)).toContain("npm install -g");
    expect(stage.service.infos()).toEqual([]);
    const vanished = openStage({ missing: true }).run(prompt, ["claude-code", "hi"]);
    expect(vanished.wait()).toBe(3);
    expect(stage.run(prompt, ["nobody", "hi"]).wait()).toBe(3);
  });

  test("[SE1] an existing name with another agent or place: exit 2", () => {
    const stage = openStage(saying([]));
    stage.run(prompt, ["claude-code", "hi", "-s", "work"]).wait();
    expect(stage.run(prompt, ["codex", "hi", "-s", "work"]).wait()).toBe(2);
    expect(stage.run(prompt, ["claude-code", "hi", "-s", "work", "--cwd", "/other"]).wait()).toBe(2);
  });
});

describe("ending it", () => {
  test.each([
    ["Ctrl-C", 130],
    ["--timeout", 6],
  ])("[SE6] %s cancels the turn, waits for its end, and exits %d", (how, code) => {
    const stage = openStage();
    const words = ["claude-code", "hi", "-s", "work", ...(how === "--timeout" ? ["--timeout", "2s"] : [])];
    const running = stage.run(prompt, words);
    stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
    if (how === "Ctrl-C") running.interrupt();
    stage.machine.advance(2_000);
    expect(running.code).toBeUndefined();
    expect(stage.agents.latest.heard.at(-1)?.method).toBe("session/cancel");
    stage.agents.latest.answer("session/prompt", { result: { stopReason: "cancelled" } });
    expect(running.wait()).toBe(code);
  });

  test("[SE2] [SE6] Ctrl-C on a prompt that still waits takes back that one, and not the turn of another", () => {
    const stage = openStage();
    stage.client("other").prompt("theirs", { session: "work" });
    stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
    const running = stage.run(prompt, ["claude-code", "mine", "-s", "work"]);
    stage.machine.advance(0);
    running.interrupt();
    expect(running.wait()).toBe(130);
    expect(stage.agents.latest.heard.some(({ method }) => method === "session/cancel")).toBe(false);
    expect(stage.service.infos()[0]).toMatchObject({ turn: "running", queued: 0 });
  });

  test.each([
    ["Ctrl-C", 130],
    ["--timeout", 6],
  ])("[SE6] after %s an agent that does not listen is waited for 5 s and no longer: exit %d", (how, code) => {
    const stage = openStage();
    const words = ["claude-code", "hi", "-s", "work", ...(how === "--timeout" ? ["--timeout", "2s"] : [])];
    const running = stage.run(prompt, words);
    stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
    if (how === "Ctrl-C") running.interrupt();
    expect(running.wait(10_000)).toBe(code);
  });
});

describe("permissions", () => {
  test("[SE4] [SC5] without a terminal the default is deny, and a flag says otherwise", () => {
    const policyOf = (words: string[], typed?: string[]) => {
      const running = openStage(saying([])).run(prompt, ["claude-code", "hi", ...words], typed ? { typed } : {});
      running.wait();
      return (running.asked[0] as { policy: string }).policy;
    };
    expect(policyOf([])).toBe("deny");
    expect(policyOf(["--permissions", "allow-reads"])).toBe("allow-reads");
    expect(policyOf([], [])).toBe("ask");
    expect(policyOf(["--detach"], [])).toBe("deny");
  });

  test("[SE4] [AC4] on a terminal the person is asked until the answer is one, and the agent gets its own option", () => {
    const stage = openStage(askingAgent);
    const running = stage.run(prompt, ["claude-code", "hi"], { typed: ["what?", "y"] });
    stage.machine.until(() => stage.agents.all[0]?.heard.some(({ id, result }) => id === "p" && result) ?? false);
    expect(stage.agents.latest.heard.at(-1)?.result).toEqual({ outcome: { outcome: "selected", optionId: "go" } });
    expect(running.err()).toContain("Write notes?  [y] Go  [n] Stop");
    stage.agents.latest.answer("session/prompt", END_TURN);
    expect(running.wait()).toBe(0);
  });

  test("[SE4] another client that was faster: the person is told, and asked no more", () => {
    const stage = openStage(askingAgent);
    const running = stage.run(prompt, ["claude-code", "hi", "-s", "work"], { typed: [] });
    stage.machine.until(() => running.err().includes("Write notes?"));
    const other = stage.client("other");
    other.attach("work");
    stage.machine.advance(0);
    const permissionId = String(other.of("permission-requested")[0]?.data["permissionId"]);
    other.done({ verb: "answer", session: "work", permissionId, optionId: "stop" });
    stage.machine.advance(0);
    expect(running.err()).toContain("Answered");
    stage.agents.latest.answer("session/prompt", END_TURN);
    expect(running.wait()).toBe(0);
  });
});

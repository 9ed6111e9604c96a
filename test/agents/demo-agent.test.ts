// Does the embedded agent do what its prompt says? Word by word in memory, and its shell as a process.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createDemoAgent } from "../../src/agents/demo-agent/agent.ts";
import { readScript } from "../../src/agents/demo-agent/script.ts";
import { createConversationStore } from "../../src/agents/demo-agent/store.ts";
import { createMachine } from "../support/fake-world.ts";
import { createTempDir } from "../support/temp-dir.ts";
import type { Message } from "./fake-agent.ts";
import { isAlive, MAIN, runAgent, statOf, until } from "./real-agent.ts";

function openDemo() {
  const machine = createMachine();
  const { clock, world } = machine.process();
  const lines: string[] = [];
  const codes: number[] = [];
  const store = createConversationStore(world.files, "/state/demo-agent");
  const agent = createDemoAgent({
    clock,
    newId: world.newId,
    store,
    write: (line) => void lines.push(line),
    shell: () => ({ output: Promise.resolve(""), kill() {} }),
    die: (code) => void codes.push(code),
  });
  let id = 0;
  const ask = (method: string, params: object): string => {
    const asked = `q${++id}`;
    agent.receive(JSON.stringify({ jsonrpc: "2.0", id: asked, method, params }));
    return asked;
  };
  const answer = (asked: string): Message | undefined =>
    lines.flatMap((line) => (line.includes(`"id":"${asked}"`) ? [JSON.parse(line) as Message] : []))[0];
  const answered = (asked: string): Message => {
    machine.until(() => answer(asked) !== undefined);
    return answer(asked) as Message;
  };
  const { sessionId } = answered(ask("session/new", { cwd: "/w", mcpServers: [] })).result as { sessionId: string };
  const prompt = (text: string): string => ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  return { machine, lines, codes, store, ask, answer, answered, prompt, sessionId };
}

test.each([
  ["stream 5 100", { kind: "stream", count: 5, everyMs: 100 }],
  [" flood 7\n", { kind: "flood", count: 7 }],
  ["flood 99999999999", { kind: "flood", count: 10_000_000 }],
  ["shell echo  a; ls", { kind: "shell", command: "echo  a; ls" }],
  ["die 3", { kind: "die", code: 3 }],
  ["die 1234", { kind: "echo", text: "die 1234" }],
  ["ask", { kind: "ask" }],
  ["tool", { kind: "tool" }],
  ["hang", { kind: "hang" }],
  ["garbage", { kind: "garbage" }],
  ["asking", { kind: "echo", text: "asking" }],
  ["stream 5", { kind: "echo", text: "stream 5" }],
] as const)("[AM2] the prompt %p is read as what it says", (text, script) => {
  expect(readScript(text)).toEqual(script);
});

describe("a turn", () => {
  test("[AM2] stream N MS takes (N - 1) times MS", () => {
    const { machine, prompt, answered, lines } = openDemo();
    const from = machine.now;
    expect(answered(prompt("stream 11 100")).result).toEqual({ stopReason: "end_turn" });
    expect(machine.now - from).toBe(1_000);
    expect(lines.filter((line) => line.includes("chunk ") && line.includes("session/update"))).toHaveLength(11);
  });

  test("[AM2] hang says nothing and never ends, also when it is cancelled; a second prompt is refused meanwhile", () => {
    const { machine, prompt, answer, answered, ask, sessionId, lines } = openDemo();
    const before = lines.length;
    const hung = prompt("hang");
    expect(answered(prompt("hello")).error?.code).toBe(-32600);
    ask("session/cancel", { sessionId });
    machine.advance(3_600_000);
    expect(answer(hung)).toBeUndefined();
    expect(lines.slice(before).some((line) => line.includes("session/update"))).toBe(false);
  });

  test("[AM2] garbage prints lines that are no messages, and then goes on", () => {
    const { prompt, answered, lines } = openDemo();
    expect(answered(prompt("garbage")).result).toEqual({ stopReason: "end_turn" });
    expect(lines).toContain("this is no JSON");
    expect(lines.at(-2)).toContain("That was garbage");
  });

  test("[AM2] die CODE ends it in the middle of the turn", () => {
    const { machine, prompt, answer, codes } = openDemo();
    const dying = prompt("die 9");
    machine.advance(1_000);
    expect(codes).toEqual([9]);
    expect(answer(dying)).toBeUndefined();
  });

  test("[AM2] a conversation is kept with the turn that runs, and never under a path of somebody's choice", () => {
    const { prompt, store, sessionId, ask, answered, machine } = openDemo();
    prompt("hang");
    machine.advance(0);
    expect(store.read(sessionId)?.turns).toEqual([{ user: "hang", agent: "" }]);
    for (const sessionName of ["../x", "", "/etc/passwd", `${sessionId}/../x`]) {
      expect(store.read(sessionName)).toBeUndefined();
      expect(answered(ask("session/resume", { sessionId: sessionName })).error?.code).toBe(-32002);
    }
  });
});

test("[AM2] [AM7] shell runs in a session of its own, and the sweep by tag finds it when the agent is gone", async () => {
  using directory = createTempDir();
  await using agent = runAgent(process.execPath, [MAIN, "demo-agent"], { env: { XDG_STATE_HOME: directory.path } });
  const ask = (id: number, method: string, params: object): void =>
    agent.process.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  ask(1, "session/new", { cwd: directory.path, mcpServers: [] });
  await until(() => agent.lines.length === 1);
  const { sessionId } = JSON.parse(agent.lines[0] ?? "").result;
  const command = "shell echo $$ > shell.pid; sleep 1000";
  ask(2, "session/prompt", { sessionId, prompt: [{ type: "text", text: command }] });
  const written = () =>
    existsSync(directory.at("shell.pid")) && Number(readFileSync(directory.at("shell.pid"), "utf8"));
  await until(() => Boolean(written()));
  const pid = Number(written());
  expect(statOf(pid)?.session).toBe(pid);
  agent.process.signalGroup("SIGKILL");
  await agent.process.exited;
  expect(isAlive(pid)).toBe(true);
  expect(agent.process.sweep()).toBeGreaterThan(0);
  await until(() => !isAlive(pid));
});

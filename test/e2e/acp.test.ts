// Does an editor find its conversation whoever dies? A client made with the ACP SDK drives `holdfast acp demo`.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ListSessionsRequest, NewSessionRequest } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import * as schema from "../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import { fixture } from "../agents/real-agent.ts";
import { withAgents } from "./agent-stage.ts";
import { type Line, numbers, openEditor } from "./editor.ts";
import { until } from "./until.ts";

const place: NewSessionRequest = { cwd: "/tmp", mcpServers: [] };
const failure = (work: Promise<unknown>): Promise<{ code: number; message: string; data?: { code?: string } }> =>
  work.then(
    (answer) => {
      throw new Error(`It was answered: ${JSON.stringify(answer)}`);
    },
    (thrown) => thrown,
  );
const isAnswer = ({ method }: Line): boolean => method === undefined;

test(
  "[PX1] initialize, new, prompt: honest capabilities, version 1 to whoever asks for 2, the answer behind all it says",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const answer = await editor.agent.request("initialize", { protocolVersion: 2, clientCapabilities: {} });
    expect(answer).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, audio: false, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
    });
    expect(schema.zInitializeResponse.parse(editor.lines[0]?.result)).toBeDefined();
    const { sessionId } = await editor.agent.request("session/new", place);
    expect(await editor.prompt(sessionId, "stream 3 1")).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toBe(numbers(3));
    expect(await editor.prompt(sessionId, "tool")).toEqual({ stopReason: "end_turn" });
    expect(await editor.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toEndWith("hello (turn 3)\n");
    expect(isAnswer(editor.lines.at(-1) as Line)).toBe(true);
    // Its own prompts it has shown itself.
    expect(editor.talk().filter((line) => line.startsWith("user"))).toEqual([]);
    const kinds = editor.lines.map(({ params }) => params?.update?.sessionUpdate);
    expect(kinds).toContain("tool_call");
    expect(kinds).toContain("agent_thought_chunk");
    // In the bridge it is a session like any other, under the same name.
    expect(await stage.agentSession(sessionId)).toMatchObject({ agent: "demo", cwd: "/tmp", clients: 1, turn: "idle" });
    expect(editor.stderr).toBe("");
  }),
  60_000,
);

test(
  "[PX1] blocks: links and text resources are taken, pictures are refused by name; a bad cwd, an unknown and a missing agent are said",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const sessionId = await editor.open();
    const prompt = (block: object) =>
      editor.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "see " }, block as never] });
    await prompt({ type: "resource_link", name: "a.ts", uri: "file:///a.ts" });
    expect(editor.said()).toBe("see [a.ts](file:///a.ts) (turn 1)\n");
    const refused = await failure(prompt({ type: "image", data: "", mimeType: "image/png" }));
    expect(refused).toMatchObject({ code: -32602, message: expect.stringContaining('"image"') });
    expect((await failure(editor.agent.request("session/new", { ...place, cwd: "tmp" }))).code).toBe(-32602);
    const unknown = await stage.run(["acp", "nobody"]);
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('"nobody"') });
    const missing = openEditor(stage, ["acp", "gemini"]);
    await missing.initialize();
    const absent = await failure(missing.agent.request("session/new", place));
    expect(absent.message).toContain("Could not start Gemini");
    // One that never began is nobody's conversation.
    expect(await missing.agent.request("session/list", {})).toEqual({ sessions: [] });
  }),
  60_000,
);

test(
  "[PX1] a permission is asked with the agent's own options and answered with one of them",
  withAgents(async (stage) => {
    const editor = openEditor(
      stage,
      ["acp", "demo"],
      async (options) => options.find(({ kind }) => kind === "allow_always")?.optionId ?? null,
    );
    const sessionId = await editor.open();
    expect(await editor.prompt(sessionId, "ask")).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toBe("allowed (allow_always)\n");
    const asked = editor.lines.find(({ method }) => method === "session/request_permission");
    expect(schema.zRequestPermissionRequest.parse(asked?.params)).toMatchObject({
      options: [{ optionId: "yes" }, { optionId: "always" }, { optionId: "no" }, { optionId: "never" }],
    });
  }),
  60_000,
);

test(
  "[PX1] a permission that the editor takes back ends the turn as cancelled",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const sessionId = await editor.open();
    expect(await editor.prompt(sessionId, "ask")).toEqual({ stopReason: "cancelled" });
  }),
  60_000,
);

test(
  "[PX1] [SE4] two editors in one session: both are asked, the first answer wins, the other's question is taken back",
  withAgents(async (stage) => {
    const never = Promise.withResolvers<null>();
    let answer = (_: string): void => {};
    const wanted = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const first = openEditor(stage, ["acp", "demo"], (_, signal) => {
      signal.addEventListener("abort", () => never.resolve(null));
      return never.promise;
    });
    const sessionId = await first.open();
    const second = openEditor(stage, ["acp", "demo"], () => wanted);
    await second.initialize();
    await second.agent.request("session/resume", { sessionId, ...place });
    const turn = first.prompt(sessionId, "ask");
    await Promise.all(
      [first, second].map((each) => each.line(({ method }) => method === "session/request_permission")),
    );
    answer("no");
    expect(await turn).toEqual({ stopReason: "end_turn" });
    const asked = first.lines.find(({ method }) => method === "session/request_permission");
    expect(await first.line(({ method }) => method === "$/cancel_request")).toMatchObject({
      params: { requestId: asked?.id },
    });
    expect(first.said()).toBe("denied (reject_once)\n");
    await until("the end", () => second.said() === "denied (reject_once)\n");
    expect(second.talk()).toEqual(["user: ask", "agent: denied (reject_once)\n"]);
  }),
  60_000,
);

test(
  "[PX1] [SE6] a cancel ends the turn as cancelled, and nothing comes behind its answer; the next prompt works",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const sessionId = await editor.open();
    for (const text of ["stream 1000 5", "shell sleep 1000"]) {
      const before = editor.lines.length;
      const turn = editor.prompt(sessionId, text);
      await until("some output", () => editor.lines.slice(before).some(({ method }) => method === "session/update"));
      await editor.agent.notify("session/cancel", { sessionId });
      expect(await turn).toEqual({ stopReason: "cancelled" });
      const count = editor.lines.length;
      await Bun.sleep(300);
      expect(editor.lines.slice(count)).toEqual([]);
      expect(isAnswer(editor.lines.at(-1) as Line)).toBe(true);
    }
    const asking = editor.prompt(sessionId, "hang");
    await until("the turn", async () => (await stage.agentSession(sessionId))?.turn === "running");
    editor.write(
      JSON.stringify({
        jsonrpc: "2.0",
        id: "raw",
        method: "session/prompt",
        params: { sessionId, prompt: [{ type: "text", text: "queued" }] },
      }),
    );
    await until("both", async () => ((await stage.agentSession(sessionId))?.queued ?? 0) === 1);
    // One request alone can be taken back: here the one that still waits.
    editor.write(JSON.stringify({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "raw" } }));
    expect((await editor.line(({ id }) => id === "raw")).result).toEqual({ stopReason: "cancelled" });
    editor.kill();
    await asking.catch(() => undefined);
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
  }),
  60_000,
);

test(
  "[PX1] load replays everything before its answer, resume nothing; list knows both, close ends one until it is loaded",
  withAgents(async (stage) => {
    const first = openEditor(stage);
    const sessionId = await first.open();
    await first.prompt(sessionId, "one");
    await first.prompt(sessionId, "stream 3 1");
    first.closeInput();
    expect(await first.exited).toBe(0);

    const second = openEditor(stage);
    await second.initialize();
    await second.agent.request("session/load", { sessionId, ...place });
    const replay = ["user: one", "agent: one (turn 1)\n", "user: stream 3 1", `agent: ${numbers(3)}`];
    expect(second.talk()).toEqual(replay);
    expect(isAnswer(second.lines.at(-1) as Line)).toBe(true);
    const count = second.lines.length;
    await Bun.sleep(200);
    expect(second.lines.length).toBe(count);
    await second.prompt(sessionId, "three");
    expect(second.talk().at(-1)).toBe(`agent: ${numbers(3)}three (turn 3)\n`);

    const third = openEditor(stage);
    await third.initialize();
    await third.agent.request("session/resume", { sessionId, ...place });
    await third.prompt(sessionId, "four");
    expect(third.talk()).toEqual(["agent: four (turn 4)\n"]);

    const other = (await third.agent.request("session/new", { cwd: "/", mcpServers: [] })).sessionId;
    await third.prompt(other, "elsewhere");
    const listed = async (params: ListSessionsRequest) => (await third.agent.request("session/list", params)).sessions;
    expect((await listed({})).map((each) => [each.sessionId, each.cwd, each.title]).sort()).toEqual(
      [
        [sessionId, "/tmp", "one"],
        [other, "/", "elsewhere"],
      ].sort(),
    );
    expect((await listed({ cwd: "/" })).map((each) => each.sessionId)).toEqual([other]);
    expect(schema.zListSessionsResponse.parse({ sessions: await listed({}) })).toBeDefined();

    await third.agent.request("session/close", { sessionId: other });
    expect((await failure(third.prompt(other, "x"))).code).toBe(-32002);
    expect(await stage.agentSession(other)).toBeUndefined();
    expect((await listed({})).length).toBe(2);
    await third.agent.request("session/load", { sessionId: other, cwd: "/", mcpServers: [] });
    expect(await third.prompt(other, "again")).toEqual({ stopReason: "end_turn" });
    expect(third.said()).toEndWith("again (turn 2)\n");

    for (const id of ["nobody", "../../etc/passwd"])
      expect((await failure(third.agent.request("session/load", { sessionId: id, ...place }))).code).toBe(-32002);
    const elsewhere = await failure(third.agent.request("session/resume", { sessionId, cwd: "/usr", mcpServers: [] }));
    expect(elsewhere.code).toBe(-32602);
  }),
  90_000,
);

test(
  "[PX1] closing a session with a turn in it answers the turn as cancelled",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const sessionId = await editor.open();
    const turn = editor.prompt(sessionId, "stream 10000 5");
    await until("some output", () => editor.said() !== "");
    await editor.agent.request("session/close", { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    const count = editor.lines.length;
    await Bun.sleep(200);
    expect(editor.lines.length).toBe(count);
  }),
  60_000,
);

test(
  "[PX1] ids are strings or numbers, unknown requests are refused, garbage does not disturb, initialize comes first",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const say = (message: object) => editor.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const answerTo = (id: string | number | null) => editor.line((line) => line.id === id && line.method === undefined);
    say({ id: "early", method: "session/new", params: place });
    expect((await answerTo("early")).error?.code).toBe(-32600);
    editor.write("this is no JSON");
    expect((await answerTo(null)).error?.code).toBe(-32700);
    say({ id: "a", method: "initialize", params: { protocolVersion: 1 } });
    say({ id: 7, method: "_vendor/thing", params: {} });
    say({ id: "7", method: "session/fork", params: {} });
    say({ method: "_vendor/told", params: {} });
    say({ id: 8, method: "session/prompt", params: { sessionId: "nobody", prompt: [] } });
    say({ id: "new", method: "session/new", params: place });
    say({ id: 9, method: "session/new", params: { cwd: "/tmp", mcpServers: "none" } });
    const codes = await Promise.all([7, "7", 8, 9].map(async (id) => (await answerTo(id)).error?.code));
    expect(codes).toEqual([-32601, -32601, -32002, -32602]);
    expect((await answerTo("a")).result).toMatchObject({ protocolVersion: 1 });
    const { sessionId } = (await answerTo("new")).result as { sessionId: string };
    say({ id: "turn", method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: "hi" }] } });
    expect((await answerTo("turn")).result).toEqual({ stopReason: "end_turn" });
  }),
  60_000,
);

test(
  "[PX1] it leaves at once when its input ends or it is killed; the agent works on, and load or resume find all of it",
  withAgents(async (stage) => {
    const first = openEditor(stage);
    const sessionId = await first.open();
    first.prompt(sessionId, "stream 300 50").catch(() => undefined);
    await until("some output", () => first.said().includes("chunk 5\n"));
    first.closeInput();
    expect(await first.exited).toBe(0);
    // At once: long before the agent is ready.
    expect(await stage.agentSession(sessionId)).toMatchObject({ turn: "running", clients: 0 });

    const second = openEditor(stage);
    await second.initialize();
    await second.agent.request("session/load", { sessionId, ...place });
    expect(second.said()).toStartWith(numbers(5));
    second.kill();
    await second.exited;
    expect(await stage.agentSession(sessionId)).toMatchObject({ turn: "running" });

    const third = openEditor(stage);
    await third.initialize();
    await third.agent.request("session/load", { sessionId, ...place });
    await until("the end", () => third.said().includes("chunk 300\n"));
    expect(third.talk()).toEqual(["user: stream 300 50", `agent: ${numbers(300)}`]);
  }),
  60_000,
);

test(
  "[PX1] a question that waits finds the next editor",
  withAgents(async (stage) => {
    const first = openEditor(stage, ["acp", "demo"], () => new Promise(() => {}));
    const sessionId = await first.open();
    first.prompt(sessionId, "ask").catch(() => undefined);
    await first.line(({ method }) => method === "session/request_permission");
    first.kill();
    await first.exited;
    for (const how of ["session/resume", "session/load"] as const) {
      const next = openEditor(stage, ["acp", "demo"], () =>
        how === "session/load" ? Promise.resolve("yes") : new Promise(() => {}),
      );
      await next.initialize();
      await next.agent.request(how, { sessionId, ...place });
      await next.line(({ method }) => method === "session/request_permission");
      if (how === "session/load") await until("the answer", () => next.said() === "allowed (allow_once)\n");
      next.kill();
      await next.exited;
    }
  }),
  60_000,
);

test(
  "[PX1] [KP2] [KP5] the host is killed in mid-turn, twice: the turn arrives whole, each part once, and is answered",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const sessionId = await editor.open();
    const turn = editor.prompt(sessionId, "stream 120 25");
    for (const mark of [10, 60]) {
      await until("more output", () => editor.said().includes(`chunk ${mark}\n`));
      process.kill((await stage.hostPid()) as number, "SIGKILL");
    }
    expect(await turn).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toBe(numbers(120));
    expect(await editor.prompt(sessionId, "and on")).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toEndWith("and on (turn 2)\n");
  }),
  90_000,
);

test(
  "[PX1] --session goes on with a session that is there: its history comes behind the answer to new",
  withAgents(async (stage) => {
    expect((await stage.run(["prompt", "demo", "before", "--session", "work", "--cwd", "/tmp"])).code).toBe(0);
    const editor = openEditor(stage, ["acp", "demo", "--session", "work"]);
    expect(await editor.open()).toBe("work");
    await editor.prompt("work", "after");
    expect(editor.talk()).toEqual(["user: before", "agent: before (turn 1)\nafter (turn 2)\n"]);
    // Prompts of others are seen live.
    expect((await stage.run(["prompt", "demo", "from a shell", "--session", "work", "--cwd", "/tmp"])).code).toBe(0);
    await until("the other's turn", () => editor.talk().at(-1) === "agent: from a shell (turn 3)\n");
    expect(editor.talk().at(-2)).toBe("user: from a shell");
    expect((await editor.agent.request("session/new", place)).sessionId).not.toBe("work");
  }),
  60_000,
);

test(
  "[PX1] [SE7] an agent that dies in a turn is told as an error with its code, never as an end",
  withAgents(async (stage) => {
    const editor = openEditor(stage);
    const sessionId = await editor.open();
    expect(await failure(editor.prompt(sessionId, "die 3"))).toMatchObject({
      code: -32603,
      message: expect.stringContaining("outcome is unknown"),
      data: { code: "AGENT_LOST" },
    });
    expect(await editor.prompt(sessionId, "still there")).toEqual({ stopReason: "end_turn" });
  }),
  60_000,
);

test(
  "[PX1] modes and options are the agent's own and can be set; MCP servers of the config and of the editor reach the agent, and holdfast's work",
  withAgents(async (stage) => {
    const home = join(stage.env["HOME"] ?? "", ".config", "holdfast");
    mkdirSync(home, { recursive: true });
    const mine = { command: process.execPath, args: [fixture("sdk-agent.ts")], mcpServers: ["holdfast"] };
    writeFileSync(join(home, "config.json"), JSON.stringify({ agents: { mine } }));
    const editor = openEditor(stage, ["acp", "mine"]);
    await editor.initialize();
    const own: NewSessionRequest["mcpServers"][number] = { name: "own", command: "/bin/true", args: [], env: [] };
    const made = await editor.agent.request("session/new", { cwd: "/tmp", mcpServers: [own] });
    expect(made).toMatchObject({
      modes: { currentModeId: "code" },
      configOptions: [{ id: "effort", currentValue: "low" }],
    });
    const { sessionId } = made;
    await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    const set = await editor.agent.request("session/set_config_option", {
      sessionId,
      configId: "effort",
      value: "high",
    });
    expect(set).toMatchObject({ configOptions: [{ id: "effort", currentValue: "high" }] });
    await editor.prompt(sessionId, "settings");
    expect(editor.said()).toBe("plan high");
    const next = openEditor(stage, ["acp", "mine"]);
    await next.initialize();
    expect(await next.agent.request("session/resume", { sessionId, cwd: "/tmp", mcpServers: [] })).toMatchObject({
      modes: { currentModeId: "plan" },
      configOptions: [{ currentValue: "high" }],
    });
    await next.prompt(sessionId, "servers");
    const [server, second] = JSON.parse(next.said()) as {
      command: string;
      args: string[];
      env: { name: string; value: string }[];
    }[];
    expect(second).toEqual(own);
    expect(server).toMatchObject({ name: "holdfast", args: ["mcp"] });
    // With nothing but what it was given it finds this host.
    const env = Object.fromEntries((server?.env ?? []).map(({ name, value }) => [name, value]));
    const mcp = new Client({ name: "agent", version: "1" });
    await mcp.connect(new StdioClientTransport({ command: server?.command ?? "", args: server?.args ?? [], env }));
    const { content } = (await mcp.callTool({ name: "sessions", arguments: {} })) as { content: { text: string }[] };
    expect(JSON.parse(content[0]?.text ?? "")).toMatchObject([{ name: sessionId }]);
    await mcp.close();
  }),
  60_000,
);

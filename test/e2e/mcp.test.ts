// Can an agent drive plugins and agents? The official MCP client from npm calls each tool of `holdfast mcp`.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { COMMANDS } from "../../src/commands/table.ts";
import { chromiumStable } from "../browser/support/chromium.ts";
import { startSite } from "../browser/support/site.ts";
import { answerTo, openPlugin } from "../fixtures/people.ts";
import { BINARY } from "../support/binary.ts";
import { type AgentStage, withAgents } from "./agent-stage.ts";
import type { Stage } from "./support.ts";
import { until } from "./until.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});

interface Content {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
}

interface Result {
  content: Content[];
  isError?: boolean;
}

interface Mcp {
  client: Client;
  call(name: string, values?: Record<string, unknown>): Promise<Result>;
  /** The JSON that its only text holds. */
  json(name: string, values?: Record<string, unknown>): Promise<never>;
  fault(name: string, values?: Record<string, unknown>): Promise<{ code: string; message: string; exitCode: number }>;
}

async function openMcp(stage: Stage): Promise<Mcp> {
  const transport = new StdioClientTransport({ command: BINARY, args: ["mcp"], env: stage.env, cwd: "/tmp" });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  stage.defer(() => client.close());
  const call = async (name: string, values: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: values })) as Result;
  return {
    client,
    call,
    async json(name, values) {
      const { content, isError } = await call(name, values);
      // A slow machine is told to wait.
      const [, ...notes] = content.filter(({ text = "" }) => !/^note: .* \(\d+ s\)$/.test(text));
      if (isError || notes.length > 0) throw new Error(JSON.stringify(content));
      return JSON.parse(content[0]?.text ?? "") as never;
    },
    async fault(name, values) {
      const { content, isError } = await call(name, values);
      expect(isError).toBe(true);
      return JSON.parse(content.at(-1)?.text ?? "").error;
    },
  };
}

/** A red dot. */
const PICTURE = { data: "/wAA/w==", format: "rgba", width: 1, height: 1 };

async function showPicture(stage: AgentStage): Promise<void> {
  const url = (path: string) => `ws://127.0.0.1:${stage.port}${path}`;
  const plugin = await openPlugin({ url }, { instanceId: "painter", capabilities: ["captureScreenshot"] });
  stage.defer(() => plugin.close());
  void (async () => plugin.send(answerTo(await plugin.next("captureScreenshot"), "screenshotResult", PICTURE)))();
}

test(
  "tools are the commands that the table offers, with their arguments as JSON Schema",
  withAgents(async (stage) => {
    const { client } = await openMcp(stage);
    expect(client.getServerVersion()).toMatchObject({ name: "holdfast" });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.sort()).toEqual(
      Object.entries(COMMANDS)
        .filter(([, { tool }]) => tool)
        .map(([name]) => name)
        .sort(),
    );
    for (const name of [
      "sessions",
      "exec",
      "run",
      "state",
      "query",
      "logs",
      "screenshot",
      "agents",
      "prompt",
      "read",
      "cancel",
      "browse",
    ])
      expect(names).toContain(name);
    const logs = tools.find(({ name }) => name === "logs");
    expect(logs?.inputSchema).toMatchObject({ properties: { count: { type: "integer", default: 50 } }, required: [] });
    expect(Object.keys(logs?.inputSchema.properties ?? {})).not.toContain("follow");
    expect(logs?.annotations).toMatchObject({ readOnlyHint: true });
    const prompt = tools.find(({ name }) => name === "prompt");
    expect(prompt?.inputSchema.required).toEqual(["agent", "text"]);
    for (const { description, inputSchema } of tools) {
      expect(description).toMatch(/^[A-Z]/);
      expect(inputSchema.type).toBe("object");
    }
    await client.ping();
  }),
  60_000,
);

test(
  "plugins: exec, run, state, query, logs and sessions give what the command gives; a screenshot is an image",
  withAgents(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    const { call, json } = await openMcp(stage);
    expect(await json("sessions")).toMatchObject([{ kind: "plugin", instanceId: "one" }]);
    expect(await json("exec", { code: "console.log('hi'); globalThis.x = 6 * 7" })).toMatchObject({
      success: true,
      value: 42,
      output: [{ body: "hi" }],
    });
    const file = join(stage.directory, "script.js");
    writeFileSync(file, "x + 1");
    expect(await json("run", { file })).toMatchObject({ success: true, value: 43 });
    expect(await json("state")).toMatchObject({ state: expect.any(String) });
    expect(await json("query", { path: "x" })).toMatchObject({ instance: expect.any(Object) });
    expect(await json("logs", { count: 5, timeout: "5s" })).toMatchObject({ entries: [{ body: "hi" }] });
    await showPicture(stage);
    const { content, isError } = await call("screenshot", { instance: "painter" });
    expect(isError).toBeUndefined();
    expect(content[0]).toMatchObject({ type: "image", mimeType: "image/png", data: expect.stringMatching(/^iVBOR/) });
    expect(JSON.parse(content[1]?.text ?? "")).toMatchObject({ width: 1, height: 1 });
  }),
  60_000,
);

test(
  "agents: prompt answers with what was said; with detach it works on, is read from any event on, and can be cancelled",
  withAgents(async (stage) => {
    const { call, json } = await openMcp(stage);
    const agents: { name: string }[] = await json("agents");
    expect(agents.map(({ name }) => name)).toContain("demo");
    expect((await call("prompt", { agent: "demo", text: "hello" })).content).toEqual([
      { type: "text", text: "hello (turn 1)" },
    ]);
    const started = await call("prompt", { agent: "demo", text: "stream 1000 20", session: "work", detach: true });
    expect(started.content[0]?.text).toBe("work");
    interface Page {
      next: number;
      lastSeq: number;
      turn: string;
      events: { seq: number; type: string }[];
    }
    const first: Page = await json("read", { session: "work", count: 3 });
    expect(first.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(first).toMatchObject({ next: 3, turn: "running" });
    const rest: Page = await json("read", { session: "work", after: first.next, wait: "5s" });
    expect(rest.events[0]?.seq).toBe(4);
    const { lastSeq }: Page = await json("read", { session: "work" });
    // Nothing is there yet: it waits for the next one.
    const late: Page = await json("read", { session: "work", after: lastSeq + 1, wait: "10s" }).catch(
      () => ({ events: [] }) as never,
    );
    expect(late.events.length).toBeGreaterThan(0);
    expect<unknown>(await json("cancel", { session: "work" })).toEqual({ session: "work", cancelled: true });
    await until("the end", async () => (await stage.agentSession("work"))?.turn === "idle");
    const end: Page = await json("read", { session: "work", after: lastSeq, count: 10_000 });
    expect(end.turn).toBe("idle");
    expect(end.events.map(({ type }) => type)).toContain("turn-ended");
    expect(await json("read", { session: "work", after: end.lastSeq })).toMatchObject({
      events: [],
      next: end.lastSeq,
    });
  }),
  60_000,
);

test(
  "browse runs a web task, and what it took a picture of is an image",
  withAgents(async (stage) => {
    const [browser] = await stable.take(1);
    const { call } = await openMcp(stage);
    const file = join(stage.directory, "steps.json");
    writeFileSync(file, JSON.stringify({ steps: [{ action: "goto", url: `${site.url}/` }, { action: "screenshot" }] }));
    const { content, isError } = await call("browse", { steps: file, cdp: [browser?.url ?? ""] });
    expect(isError).toBeUndefined();
    expect(content[0]).toMatchObject({ type: "image", mimeType: "image/png", data: expect.stringMatching(/^iVBOR/) });
    expect(JSON.parse(content[1]?.text?.split("\n").at(-1) ?? "")).toMatchObject({
      type: "task:completed",
      data: { success: true },
    });
  }),
  120_000,
);

test(
  "[CM3] what fails is a result that says so, with the code, the exit code and what to do",
  withAgents(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    const { client, call, fault } = await openMcp(stage);
    const failed = await call("exec", { code: "missing" });
    expect(failed.isError).toBe(true);
    expect(JSON.parse(failed.content[0]?.text ?? "")).toMatchObject({ success: false, code: "SCRIPT_RUNTIME_ERROR" });
    expect(await fault("screenshot")).toMatchObject({ code: "CAPABILITY_NOT_SUPPORTED", exitCode: 1 });
    expect(await fault("read", { session: "nobody" })).toMatchObject({
      code: "SESSION_NOT_FOUND",
      exitCode: 3,
      message: expect.stringContaining("holdfast sessions"),
    });
    expect(await fault("prompt", { agent: "nobody", text: "hi" })).toMatchObject({
      code: "AGENT_NOT_FOUND",
      exitCode: 3,
    });
    expect(await fault("prompt", { agent: "demo" })).toMatchObject({
      code: "USAGE",
      message: expect.stringContaining('"text"'),
    });
    expect(await fault("prompt", { agent: "demo", text: "-" })).toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("no stdin"),
    });
    expect(await fault("logs", { follow: true })).toMatchObject({
      code: "USAGE",
      message: expect.stringContaining('"follow"'),
    });
    expect(await fault("query", { path: "x", depth: "deep" })).toMatchObject({ code: "USAGE", exitCode: 2 });
    expect(await fault("exec", { code: "for(;;){}", timeout: "200ms" })).toMatchObject({
      code: "TIMEOUT",
      exitCode: 6,
    });
    expect(await fault("browse", { steps: "/nowhere.json" })).toMatchObject({ exitCode: 2 });
    for (const name of ["serve", "mcp", "toString"])
      expect(await client.callTool({ name }).catch((thrown: { code: number }) => thrown.code)).toBe(-32602);
    const unknown = client.request({ method: "resources/list" } as never, {} as never);
    expect(await unknown.catch((thrown: { code: number }) => thrown.code)).toBe(-32601);
  }),
  60_000,
);

test(
  "a long call can be cancelled: the turn ends, the server serves on, and tells of progress meanwhile",
  withAgents(async (stage) => {
    const { client, call } = await openMcp(stage);
    const over = new AbortController();
    const progress: number[] = [];
    const long = client
      .callTool(
        { name: "prompt", arguments: { agent: "demo", text: "stream 100000 20", session: "work" } },
        undefined,
        {
          signal: over.signal,
          onprogress: (told) => void progress.push(told.progress),
        },
      )
      .catch(String);
    await until("progress", () => progress.length > 0);
    expect(await stage.agentSession("work")).toMatchObject({ turn: "running" });
    over.abort();
    await long;
    await until("the end of the turn", async () => (await stage.agentSession("work"))?.turn === "idle");
    expect((await call("prompt", { agent: "demo", text: "hi", session: "work", cwd: "/tmp" })).content[0]?.text).toBe(
      "hi (turn 2)",
    );
  }),
  60_000,
);

test(
  "it speaks 2025-06-18 and 2025-03-26, its own newest to whoever asks for another, takes ids of both kinds and batches, and leaves when its input ends",
  withAgents(async (stage) => {
    const server = stage.spawn(["mcp"]);
    const ask = (id: string | number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
    const say = (message: object) => server.write(`${JSON.stringify(message)}\n`);
    const initialize = (id: string | number, protocolVersion: string) =>
      ask(id, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } });
    say(initialize("a", "2025-06-18"));
    say([
      initialize(1, "2025-03-26"),
      initialize(2, "1999-01-01"),
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ]);
    server.write("garbage\n");
    say(ask("ping", "ping"));
    await server.outSays(/"id":"ping"/);
    const answers = new Map(
      server.stdout
        .trim()
        .split("\n")
        .map((line) => [JSON.parse(line).id, JSON.parse(line).result]),
    );
    expect(["a", 1, 2].map((id) => answers.get(id)?.protocolVersion)).toEqual([
      "2025-06-18",
      "2025-03-26",
      "2025-11-25",
    ]);
    expect(answers.get("ping")).toEqual({});
    server.closeStdin();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  }),
  60_000,
);

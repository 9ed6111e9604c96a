// Is the embedded agent a real ACP agent? The SDK's own client drives it as a process, and takes everything it says.
import { describe, expect, test } from "bun:test";
import {
  type ClientContext,
  client,
  type InitializeRequest,
  type ListSessionsRequest,
  type NewSessionRequest,
  ndJsonStream,
  type RequestPermissionResponse,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import * as schema from "../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import { createTempDir, type TempDir } from "../support/temp-dir.ts";
import { MAIN, runAgent, until } from "./real-agent.ts";

interface Demo extends AsyncDisposable {
  agent: ClientContext;
  updates: SessionNotification[];
  lines: string[];
  texts(): string[];
  exited: Promise<{ code: number | null }>;
  leave(): void;
}

type Answer = () => Promise<RequestPermissionResponse>;
const CANCELLED: Answer = async () => ({ outcome: { outcome: "cancelled" } });

function openDemo(directory: TempDir, permission: Answer = CANCELLED): Demo {
  const updates: SessionNotification[] = [];
  const encoder = new TextEncoder();
  let toClient: ReadableStreamDefaultController<Uint8Array> | undefined;
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      toClient = controller;
    },
  });
  const running = runAgent(process.execPath, [MAIN, "demo-agent"], {
    env: { XDG_STATE_HOME: directory.path },
    line: (text) => toClient?.enqueue(encoder.encode(`${text}\n`)),
  });
  const decoder = new TextDecoder();
  const output = new WritableStream<Uint8Array>({
    write: (bytes) => running.process.write(decoder.decode(bytes).trimEnd()),
  });
  const connection = client({ name: "sdk-client" })
    .onRequest("session/request_permission", permission)
    .onNotification("session/update", ({ params }) => void updates.push(params))
    .connect(ndJsonStream(output, input));
  return {
    agent: connection.agent,
    updates,
    lines: running.lines,
    texts: () =>
      updates.flatMap(({ update }) =>
        update.sessionUpdate.endsWith("message_chunk") && "content" in update
          ? [`${update.sessionUpdate.split("_")[0]}: ${(update.content as { text: string }).text}`]
          : [],
      ),
    exited: running.process.exited,
    leave: running.process.closeInput,
    async [Symbol.asyncDispose]() {
      connection.close();
      await running[Symbol.asyncDispose]();
    },
  };
}

const INITIALIZE: InitializeRequest = { protocolVersion: 1, clientCapabilities: {} };
const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: "text" as const, text }] });
const place: NewSessionRequest = { cwd: "/tmp", mcpServers: [] };

async function begin(demo: Demo): Promise<string> {
  await demo.agent.request("initialize", INITIALIZE);
  return (await demo.agent.request("session/new", place)).sessionId;
}

describe("the embedded agent", () => {
  test("[AM2] says who it is and what it can, in the SDK's own schema, and answers version 1 to whoever asks for 2", async () => {
    using directory = createTempDir();
    await using demo = openDemo(directory);
    const answer = await demo.agent.request("initialize", { ...INITIALIZE, protocolVersion: 2 });
    expect(answer.protocolVersion).toBe(1);
    expect(answer.agentCapabilities).toMatchObject({
      loadSession: true,
      sessionCapabilities: { list: {}, resume: {}, close: {} },
    });
    expect(schema.zInitializeResponse.parse(JSON.parse(demo.lines[0] ?? "").result)).toMatchObject({
      agentInfo: { name: "holdfast-demo" },
    });
  });

  test("[AM2] streams numbered chunks, thinks, reports tool calls and counts its turns; all of it parses", async () => {
    using directory = createTempDir();
    await using demo = openDemo(directory);
    const sessionId = await begin(demo);
    expect(await demo.agent.request("session/prompt", prompt(sessionId, "stream 3 1"))).toEqual({
      stopReason: "end_turn",
    });
    expect(demo.texts()).toEqual(["agent: chunk 1\n", "agent: chunk 2\n", "agent: chunk 3\n"]);
    await demo.agent.request("session/prompt", prompt(sessionId, "tool"));
    await demo.agent.request("session/prompt", prompt(sessionId, "hello"));
    expect(demo.texts().at(-1)).toBe("agent: hello (turn 3)\n");
    const kinds = demo.updates.map(({ update }) => update.sessionUpdate);
    expect(kinds.slice(3)).toEqual([
      "tool_call",
      "tool_call_update",
      "agent_message_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
    ]);
    const told = demo.lines.map((line) => JSON.parse(line)).filter(({ method }) => method === "session/update");
    for (const { params } of told) expect(schema.zSessionNotification.parse(params)).toMatchObject(params);
    expect(told).toHaveLength(demo.updates.length);
  });

  test.each([
    ["yes", "allowed (allow_once)\n"],
    ["never", "denied (reject_always)\n"],
  ])("[AM2] asks for permission and does as it is told: %s", async (optionId, said) => {
    using directory = createTempDir();
    await using demo = openDemo(directory, async () => ({ outcome: { outcome: "selected", optionId } }));
    const sessionId = await begin(demo);
    expect(await demo.agent.request("session/prompt", prompt(sessionId, "ask"))).toEqual({ stopReason: "end_turn" });
    expect(demo.texts()).toEqual([`agent: ${said}`]);
    const asked = demo.lines.map((line) => JSON.parse(line)).find(({ method }) => method?.includes("permission"));
    expect(schema.zRequestPermissionRequest.parse(asked.params)).toMatchObject(asked.params);
  });

  test("[AM2] a permission that is cancelled ends the turn as cancelled", async () => {
    using directory = createTempDir();
    await using demo = openDemo(directory);
    const sessionId = await begin(demo);
    expect(await demo.agent.request("session/prompt", prompt(sessionId, "ask"))).toEqual({ stopReason: "cancelled" });
  });

  test.each(["stream 1000 50", "flood 10000000", "shell sleep 1000"])(
    "[AM2] a cancel ends %p at once",
    async (text) => {
      using directory = createTempDir();
      await using demo = openDemo(directory);
      const sessionId = await begin(demo);
      const turn = demo.agent.request("session/prompt", prompt(sessionId, text));
      await until(() => demo.updates.length > 0);
      await demo.agent.notify("session/cancel", { sessionId });
      expect(await turn).toEqual({ stopReason: "cancelled" });
    },
  );

  test("[AM2] a new process loads a session with its replay before the answer, and resumes one without", async () => {
    using directory = createTempDir();
    let sessionId = "";
    {
      await using first = openDemo(directory);
      sessionId = await begin(first);
      await first.agent.request("session/prompt", prompt(sessionId, "one"));
      await first.agent.request("session/prompt", prompt(sessionId, "two"));
    }
    {
      await using second = openDemo(directory);
      await second.agent.request("initialize", INITIALIZE);
      await second.agent.request("session/load", { sessionId, ...place });
      const replay = ["user: one", "agent: one (turn 1)\n", "user: two", "agent: two (turn 2)\n"];
      expect(second.texts()).toEqual(replay);
      const order = second.lines.map((line) => JSON.parse(line).method ?? "answer");
      expect(order).toEqual(["answer", ...replay.map(() => "session/update"), "answer"]);
      await second.agent.request("session/prompt", prompt(sessionId, "three"));
      expect(second.texts().at(-1)).toBe("agent: three (turn 3)\n");
    }
    await using third = openDemo(directory);
    await third.agent.request("initialize", INITIALIZE);
    await third.agent.request("session/resume", { sessionId, ...place });
    expect(third.updates).toEqual([]);
    await third.agent.request("session/prompt", prompt(sessionId, "four"));
    expect(third.texts()).toEqual(["agent: four (turn 4)\n"]);
  });

  test("[AM2] lists its sessions, by directory if one is named, closes one, and then knows it no more until it is resumed", async () => {
    using directory = createTempDir();
    await using demo = openDemo(directory);
    const sessionId = await begin(demo);
    const other = await demo.agent.request("session/new", { cwd: "/", mcpServers: [] });
    const listed = async (params: ListSessionsRequest) =>
      (await demo.agent.request("session/list", params)).sessions.map((each) => each.sessionId).sort();
    expect(await listed({})).toEqual([sessionId, other.sessionId].sort());
    expect(await listed({ cwd: "/tmp" })).toEqual([sessionId]);
    await demo.agent.request("session/close", { sessionId });
    const refused = demo.agent.request("session/prompt", prompt(sessionId, "x"));
    expect(await refused.catch((thrown: { code: number }) => thrown.code)).toBe(-32002);
    await demo.agent.request("session/resume", { sessionId, ...place });
    expect(await demo.agent.request("session/prompt", prompt(sessionId, "x"))).toEqual({ stopReason: "end_turn" });
  });

  test("[AM2] die CODE ends it with that code, and the end of its input with 0", async () => {
    using directory = createTempDir();
    await using dying = openDemo(directory);
    const sessionId = await begin(dying);
    dying.agent.request("session/prompt", prompt(sessionId, "die 42")).catch(() => undefined);
    expect((await dying.exited).code).toBe(42);
    await using leaving = openDemo(directory);
    await begin(leaving);
    leaving.leave();
    expect((await leaving.exited).code).toBe(0);
  });
});

test("[AC1] string ids are answered as strings, garbage does not disturb it, and unknown methods are refused", async () => {
  using directory = createTempDir();
  await using running = runAgent(process.execPath, [MAIN, "demo-agent"], { env: { XDG_STATE_HOME: directory.path } });
  const say = (message: object) => running.process.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
  running.process.write("this is no JSON");
  say({ id: "a-string", method: "initialize", params: INITIALIZE });
  say({ id: "7", method: "_vendor/thing" });
  say({ id: 7, method: "session/load", params: { sessionId: "../../etc/passwd", ...place } });
  await until(() => running.lines.length === 3);
  const answers = running.lines.map((line) => JSON.parse(line));
  const codes = new Map(answers.map(({ id, error }) => [id, error?.code]));
  expect([codes.get("a-string"), codes.get("7"), codes.get(7), codes.size]).toEqual([undefined, -32601, -32002, 3]);
});

// Is `holdfast acp` a conforming agent? What the ACP test compatibility kit (agentclientprotocol/acp-tck) asks of
// agents of version 1, under the names it has there, in front of the built binary.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as schema from "../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import { fixture } from "../agents/real-agent.ts";
import { type AgentStage, withAgents } from "./agent-stage.ts";
import { type KitClient, keysOf, type Message, startKitClient } from "./kit-client.ts";

const LIMIT_MS = 60_000;
const HISTORY = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"];
const RESPONSES: Record<string, [name: string, type: { parse(value: unknown): unknown }]> = {
  initialize: ["InitializeResponse", schema.zInitializeResponse],
  "session/new": ["NewSessionResponse", schema.zNewSessionResponse],
  "session/load": ["LoadSessionResponse", schema.zLoadSessionResponse],
  "session/resume": ["ResumeSessionResponse", schema.zResumeSessionResponse],
  "session/list": ["ListSessionsResponse", schema.zListSessionsResponse],
  "session/close": ["CloseSessionResponse", schema.zCloseSessionResponse],
  "session/prompt": ["PromptResponse", schema.zPromptResponse],
  "session/set_mode": ["SetSessionModeResponse", schema.zSetSessionModeResponse],
  "session/set_config_option": ["SetSessionConfigOptionResponse", schema.zSetSessionConfigOptionResponse],
};

const updatesOf = (messages: readonly Message[], sessionId: string): Message[] =>
  messages.filter(({ method, params }) => method === "session/update" && params.sessionId === sessionId);

/** With what holds of every message, whichever test it came in. */
const kit = (
  body: (client: KitClient, stage: AgentStage) => Promise<void>,
  prepare: (stage: AgentStage) => string = () => "demo",
): (() => Promise<void>) =>
  withAgents(async (stage) => {
    const client = startKitClient(stage, prepare(stage));
    await body(client, stage);
    // ACP-SHUTDOWN-001, ACP-STDERR-001; that it could be read proves ACP-TRANSPORT-001 and -002.
    expect(await client.end()).toEqual({ code: 0, stderr: "" });
    for (const message of client.messages) checkMessage(message, client.asked);
  });

/** The demo agent has neither modes nor options. */
function installSdkAgent(stage: AgentStage): string {
  const home = join(stage.env["HOME"] ?? "", ".config", "holdfast");
  mkdirSync(home, { recursive: true });
  const mine = { command: process.execPath, args: [fixture("sdk-agent.ts")] };
  writeFileSync(join(home, "config.json"), JSON.stringify({ agents: { mine } }));
  return "mine";
}

function checkMessage(message: Message, asked: KitClient["asked"]): void {
  expect(message.jsonrpc).toBe("2.0");
  if (message.method !== undefined) {
    // ACP-CLIENTCAP-001 to -003: this client can do none of that, and said so.
    expect(["session/update", "session/request_permission"]).toContain(message.method);
    const [name, type] =
      message.method === "session/update"
        ? (["SessionNotification", schema.zSessionNotification] as const)
        : (["RequestPermissionRequest", schema.zRequestPermissionRequest] as const);
    type.parse(message.params);
    expect(Object.keys(message.params).filter((key) => !keysOf(name).has(key))).toEqual([]);
    return;
  }
  // ACP-JSONRPC-002
  expect(["result" in message, "error" in message].filter(Boolean)).toHaveLength(1);
  if (message.error) {
    schema.zError.parse(message.error);
    expect(Number.isInteger(message.error.code)).toBe(true);
    // ACP-ERROR-001
    expect(message.error.message).toMatch(/^[^\n]+$/);
    return;
  }
  // ACP-SCHEMA-001 and -002
  const [name, type] = RESPONSES[asked.get(message.id ?? "") ?? ""] ?? [];
  if (!name || !type) throw new Error(`Nobody asked for ${JSON.stringify(message)}`);
  type.parse(message.result);
  expect(Object.keys(message.result).filter((key) => !keysOf(name).has(key))).toEqual([]);
}

test(
  "[PX1] ACP-INIT-001 to -004, ACP-AUTH-001, -002, -005: the handshake, with version 1 and with one that is unknown",
  kit(async (client) => {
    const first = await client.result("initialize", { protocolVersion: 1, clientCapabilities: {} });
    expect(first).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "holdfast-demo", version: expect.any(String) },
    });
    // No way to log in is offered, so none may be needed.
    expect(first.authMethods).toEqual([]);
    const info = { name: "kit", version: "1" };
    const next = { protocolVersion: 65_535, clientCapabilities: {}, clientInfo: info, info, capabilities: {} };
    expect((await client.result("initialize", next)).protocolVersion).toBe(1);
    expect(await client.result("session/new", { cwd: "/tmp", mcpServers: [] })).toBeDefined();
  }),
  LIMIT_MS,
);

test(
  "[PX1] ACP-JSONRPC-001 to -005, ACP-EXT-001, ACP-INFO-*: ids come back as they were, notifications get no answer, errors disturb nothing",
  kit(async (client) => {
    await client.result("initialize", { protocolVersion: 1, clientCapabilities: {} }, 424_242);
    const { sessionId } = await client.result("session/new", { cwd: "/tmp", mcpServers: [] }, "kit-string-id");
    expect((await client.ask("session/new", { mcpServers: [] })).error?.code).toBe(-32_602);
    expect((await client.ask("_kit/does_not_exist")).error?.code).toBe(-32_601);
    expect((await client.ask("session/prompt", { sessionId: "never-made", prompt: [] })).error).toBeDefined();
    const answers = () => client.messages.filter(({ method }) => method === undefined).length;
    const before = answers();
    client.send({ method: "session/cancel", params: { sessionId } });
    client.send({ method: "session/cancel", params: { sessionId: "never-made" } });
    client.send({ method: "_kit/told", params: {} });
    client.send({ method: "session/list", params: {} });
    client.write('{"foo":"bar"}');
    // Behind all of them, and the only answer.
    await client.result("session/list", {});
    expect(answers()).toBe(before + 1);
    client.write("no JSON at all");
    expect((await client.message(({ id, error }) => id === null && error !== undefined)).error?.code).toBe(-32_700);
    expect((await client.prompt(sessionId, "still there")).result).toEqual({ stopReason: "end_turn" });
  }),
  LIMIT_MS,
);

test(
  "[PX1] ACP-SESSION-001, -002, ACP-MODES-*, ACP-CONFIG-*: sessions have names of their own, modes and options are what they say",
  kit(async (client) => {
    await client.result("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const place = { cwd: "/tmp", mcpServers: [] };
    const [one, two] = await Promise.all([client.result("session/new", place), client.result("session/new", place)]);
    expect(one.sessionId).toMatch(/./);
    expect(two.sessionId).not.toBe(one.sessionId);
    const { sessionId, modes, configOptions } = one;
    const ids = modes.availableModes.map(({ id }: { id: string }) => id);
    expect(ids).toContain(modes.currentModeId);
    await client.result("session/set_mode", { sessionId, modeId: ids.at(-1) });
    expect(configOptions).not.toEqual([]);
    for (const { id, type, options, currentValue } of configOptions) {
      expect(options.map(({ value }: { value: string }) => value)).toContain(currentValue);
      // This client did not say that it can show another.
      expect(type).toBe("select");
      const value = options.at(-1).value;
      const { configOptions: all } = await client.result("session/set_config_option", {
        sessionId,
        configId: id,
        value,
      });
      expect(all.map((each: { id: string }) => each.id)).toEqual(configOptions.map((each: { id: string }) => each.id));
      expect(all.find((each: { id: string }) => each.id === id).currentValue).toBe(value);
    }
  }, installSdkAgent),
  LIMIT_MS,
);

test(
  "[PX1] ACP-PROMPT-001 to -003, ACP-PROMPTCAP-003, ACP-META-001: a prompt of text, a link, a text file, and with _meta",
  kit(async (client) => {
    const sessionId = await client.open();
    const text = { type: "text", text: "stream 3 1" };
    const link = { type: "resource_link", uri: "file:///tmp/context.txt", name: "context.txt" };
    const resource = { uri: "file:///tmp/context.txt", text: "some context", mimeType: "text/plain" };
    for (const prompt of [[text], [text, link], [text, { type: "resource", resource }]])
      expect(await client.result("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
    const _meta = { traceparent: "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01" };
    const told = await client.result("session/prompt", { sessionId, prompt: [{ ...text, text: "tool" }], _meta });
    expect(told).toEqual({ stopReason: "end_turn" });
    expect(updatesOf(client.messages, sessionId).length).toBeGreaterThanOrEqual(3);
    expect(client.messages.filter(({ method, params }) => method && params.sessionId !== sessionId)).toEqual([]);
  }),
  LIMIT_MS,
);

test(
  "[PX1] ACP-CANCEL-001, -002, ACP-CLOSE-001, -002: a turn that is cancelled or closed ends as cancelled, and nothing comes behind",
  kit(async (client) => {
    const sessionId = await client.open();
    for (const how of ["cancel", "close"]) {
      const since = client.messages.length;
      const turn = client.prompt(sessionId, "stream 100000 1");
      await client.message((each) => client.messages.indexOf(each) >= since && each.method === "session/update");
      if (how === "cancel") client.send({ method: "session/cancel", params: { sessionId } });
      const closed = how === "close" ? await client.result("session/close", { sessionId }) : {};
      expect({ how, answer: (await turn).result, closed }).toEqual({
        how,
        answer: { stopReason: "cancelled" },
        closed: {},
      });
      const behind = client.messages.indexOf(await turn) + 1;
      await client.result("session/list", {});
      expect(updatesOf(client.messages.slice(behind), sessionId)).toEqual([]);
    }
    const { sessionId: idle } = await client.result("session/new", { cwd: "/tmp", mcpServers: [] });
    expect(await client.result("session/close", { sessionId: idle })).toEqual({});
  }),
  LIMIT_MS,
);

test(
  "[PX1] ACP-LOAD-001 to -003, ACP-RESUME-*, ACP-LIST-*: load replays before its answer and never behind, resume nothing, list by place",
  kit(async (client, stage) => {
    const sessionId = await client.open();
    const place = { sessionId, cwd: "/tmp" };
    // One in which nothing was said yet.
    expect(await client.result("session/load", { ...place, mcpServers: [] })).toBeObject();
    expect(await client.result("session/resume", place)).toBeObject();
    await client.prompt(sessionId, "hello");
    const since = client.messages.length;
    const answer = await client.ask("session/load", { ...place, mcpServers: [] });
    const at = client.messages.indexOf(answer);
    expect(answer.result).toBeObject();
    const replayed = updatesOf(client.messages.slice(since, at), sessionId).map(({ params }) => params.update);
    expect(replayed.map(({ sessionUpdate }) => sessionUpdate)).toContain("agent_message_chunk");
    const resumed = client.messages.length;
    await client.result("session/resume", place);
    const kinds = updatesOf(client.messages.slice(resumed), sessionId).map(({ params }) => params.update.sessionUpdate);
    expect(kinds.filter((kind) => HISTORY.includes(kind))).toEqual([]);
    expect(updatesOf(client.messages.slice(at), sessionId)).toEqual([]);
    const { sessions } = await client.result("session/list", {});
    expect(sessions).toMatchObject([{ sessionId, cwd: "/tmp" }]);
    expect(await client.result("session/list", { cwd: stage.directory })).toEqual({ sessions: [] });
  }),
  LIMIT_MS,
);

test(
  "[PX1] ACP-SHUTDOWN-001: whenever its input ends it leaves, and has nothing to say about it",
  withAgents(async (stage) => {
    for (let round = 0; round < 20; round++) {
      const client = startKitClient(stage, "demo");
      client.send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
      client.send({ id: 2, method: "session/new", params: { cwd: "/tmp", mcpServers: [] } });
      // At once: what comes behind the answer is still on its way.
      while (!client.messages.some(({ id }) => id === 2)) await Bun.sleep(0);
      await Bun.sleep(round % 5);
      expect({ round, ...(await client.end()) }).toEqual({ round, code: 0, stderr: "" });
    }
  }),
  LIMIT_MS,
);

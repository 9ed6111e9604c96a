// Do the checks by hand say what the schemas say? Every sample, and each of its parts spoilt in every way.
import { describe, expect, test } from "bun:test";
import type { z } from "zod";
import { isUpdateParams, PermissionOption, UpdateParams } from "../../src/protocol/acp.ts";
import * as answers from "../../src/protocol/agent-answers.ts";
import { AgentInfo, AgentSessionInfo, LoginAnswer, OpenedSession, ShelvedSession } from "../../src/protocol/agents.ts";
import {
  ClientChallenge,
  ClientHello,
  ClientMessage,
  isClientChallenge,
  isClientHello,
  isUsualMessage,
} from "../../src/protocol/client.ts";
import { Health } from "../../src/protocol/health.ts";
import { isHealth, isHostHello, isHostMessage } from "../../src/protocol/host-frames.ts";
import { HostHello, HostMessage } from "../../src/protocol/host-messages.ts";
import { LogEntry, PluginFrame } from "../../src/protocol/plugin.ts";
import { isLogEntry, isPluginFrame } from "../../src/protocol/plugin-frames.ts";

type Sample = Record<string, unknown>;

const session = {
  sessionId: "s1",
  instanceId: "i1",
  context: "edit",
  placeName: "Place",
  placeFile: "a.rbxl",
  placeId: 1,
  gameId: 2,
  state: "Edit",
  pluginVersion: "1",
  capabilities: ["execute"],
  connectedAt: "now",
  origin: "user",
  stale: true,
};

const status = {
  port: 1,
  pid: 2,
  version: "1",
  startedAt: "then",
  hostSince: "then",
  lastFailoverAt: "then",
  background: true,
  auth: "token",
  pluginToken: false,
  addresses: [{ address: "127.0.0.1", listening: true, note: "said" }],
  clients: [{ clientId: "c", pid: 3, standing: true, rank: 0 }],
  sessions: [session],
  malformedFrames: 0,
  logFile: "/log",
  endsWhenIdle: "soon",
};

const result = { type: "stateResult", payload: { state: "Edit" } };
const error = { code: "REFUSED", message: "no", data: { a: 1 } };
const record = { seq: 2, from: 1, at: "now", type: "update", data: { text: "hi" } };
const instance = { instanceId: "i", placeName: "p", placeId: 1, gameId: 2, contexts: ["edit"], origin: "user" };
const agentSession = {
  kind: "agent",
  name: "work",
  agent: "demo",
  cwd: "/",
  turn: "idle",
  queued: 0,
  clients: 1,
  lastSeq: 5,
  idle: { verdict: "kept", reason: "attached", dueInMs: 5 },
  title: "hi",
  updatedAt: "then",
};

const update = {
  sessionUpdate: "tool_call",
  content: [],
  messageId: "m",
  toolCallId: "t",
  title: "Write",
  status: "pending",
  kind: "edit",
};

const PAIRS: [string, (value: unknown) => boolean, z.ZodType, Sample[]][] = [
  ["isClientChallenge", isClientChallenge, ClientChallenge, [{ type: "client-challenge", nonce: "0".repeat(16) }]],
  [
    "isClientHello",
    isClientHello,
    ClientHello,
    [{ type: "client-hello", proof: "p", version: "1", protocolVersion: 2, standing: true, pid: 3 }],
  ],
  ["isUpdateParams", isUpdateParams, UpdateParams, [{ sessionId: "s", update }]],
  [
    "isHostMessage",
    isHostMessage,
    HostMessage,
    [
      { type: "list-sessions-response", requestId: "r", sessions: [session] },
      { type: "list-instances-response", requestId: "r", instances: [instance] },
      { type: "host-status-response", requestId: "r", status },
      { type: "host-stop-response", requestId: "r", pid: 1, standing: 0 },
      { type: "host-response", requestId: "r", result },
      { type: "session-event", event: "connected", sessionId: "s1", context: "edit", instanceId: "i1", session },
      { type: "plugin-push", sessionId: "s1", message: result },
      { type: "agent-response", requestId: "r", result: { any: "thing" }, error },
      { type: "agent-events", session: "work", events: [record] },
      { type: "succession", rank: 0 },
      { type: "in-line", standing: 0 },
      { type: "host-transfer" },
      { type: "host-ready" },
    ],
  ],
  [
    "isHostHello",
    isHostHello,
    HostHello,
    [{ type: "host-hello", nonce: "n", proof: "p", version: "1", protocolVersion: 2, pid: 1 }],
  ],
  [
    "isHealth",
    isHealth,
    Health,
    [
      {
        status: "ok",
        port: 1,
        sessions: 0,
        uptime: 1.5,
        hostUptime: 1,
        lastFailoverAt: "then",
        protocolVersion: 2,
        serverVersion: "1",
      },
    ],
  ],
  ["isAgentSessionInfo", answers.isAgentSessionInfo, AgentSessionInfo, [agentSession]],
  [
    "isShelvedSession",
    answers.isShelvedSession,
    ShelvedSession,
    [{ kind: "agent", name: "work", agent: "demo", cwd: "/", closed: true, title: "hi", updatedAt: "then" }],
  ],
  [
    "isOpenedSession",
    answers.isOpenedSession,
    OpenedSession,
    [
      {
        session: "work",
        lastSeq: 3,
        modes: { currentModeId: "code" },
        configOptions: [],
        permissions: [{ permissionId: "p", toolCall: {}, options: [] }],
      },
    ],
  ],
  [
    "isAgentInfo",
    answers.isAgentInfo,
    AgentInfo,
    [
      { name: "demo", displayName: "Demo", command: "demo", found: true, install: "no", status: "idle", pid: 1 },
      {
        name: "demo",
        displayName: "Demo",
        command: "demo",
        found: true,
        install: "no",
        status: "disconnected",
        pid: null,
        keeper: 2,
        stderr: ["a"],
      },
    ],
  ],
  [
    "isLoginAnswer",
    answers.isLoginAnswer,
    LoginAnswer,
    [
      { kind: "none" },
      { kind: "done", method: "key" },
      { kind: "terminal", method: "key", command: "login", args: ["a"], env: { A: "b" } },
    ],
  ],
  [
    "isPermissionOption",
    answers.isPermissionOption,
    PermissionOption,
    [{ optionId: "y", name: "Yes", kind: "allow_once" }],
  ],
  [
    "isPluginFrame",
    isPluginFrame,
    PluginFrame,
    [
      { type: "execute", sessionId: "s", payload: {}, requestId: "r", protocolVersion: 2 },
      { type: "execute", sessionId: "s".repeat(4_096), payload: {} },
    ],
  ],
  ["isLogEntry", isLogEntry, LogEntry, [{ level: "Print", body: "hi", timestamp: 1.5 }]],
];

/** What JSON can carry, and the absence of it. */
const VALUES = [
  undefined,
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  2 ** 60,
  "",
  "text",
  "agent",
  "edit",
  "connected",
  "host-ready",
  "constructor",
  "s".repeat(4_097),
  [],
  [null],
  ["text"],
  [{}],
  {},
  { text: "text" },
];

/** The sample with each part, however deep, put in turn in place of each value. */
function spoilt(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return [...VALUES, ...value.flatMap((item, at) => spoilt(item).map((other) => value.with(at, other)))];
  }
  if (typeof value !== "object" || value === null) return VALUES;
  const entries = Object.entries(value);
  const parts = entries.flatMap(([key, part]) => spoilt(part).map((other) => ({ ...value, [key]: other })));
  const without = entries.map(([key]) => Object.fromEntries(entries.filter(([each]) => each !== key)));
  return [...VALUES, ...parts, ...without];
}

const PROMPT = {
  verb: "prompt",
  agent: "demo",
  session: "work",
  cwd: "/work",
  text: "hi",
  policy: "deny",
  promptId: "12345678",
  detach: false,
  attach: true,
  closes: true,
  env: { PATH: "/bin" },
};

describe("guards agree with the schemas", () => {
  for (const [name, fits, schema, samples] of PAIRS) {
    test(`[CL1] ${name}, on every sample and every spoilt one`, () => {
      const all = samples.flatMap((sample) => [sample, ...spoilt(sample)]);
      const wrong = all.filter((value) => fits(value) !== schema.safeParse(value).success);
      expect(wrong).toEqual([]);
      expect(samples.filter((sample) => !fits(sample))).toEqual([]);
      expect(all.some((value) => !fits(value))).toBe(true);
    });
  }

  test("[CL1] a usual message of a client passes its schema too", () => {
    const samples: Sample[] = [
      { type: "list-sessions", requestId: "r" },
      { type: "agent-ack", requestId: "r", session: "s", seq: 3 },
      { type: "agent-request", requestId: "r", request: { verb: "attach", session: "work", after: 0 } },
      { type: "agent-request", requestId: "r", request: { verb: "close", session: "work" } },
      { type: "agent-request", requestId: "r", request: PROMPT },
    ];
    expect(samples.every((sample) => isUsualMessage(sample as Record<string, unknown>))).toBe(true);
    const spoilts = samples.flatMap(spoilt).filter((value) => typeof value === "object" && value !== null);
    const usual = spoilts.filter((value) => isUsualMessage(value as Record<string, unknown>));
    expect(usual.length).toBeLessThan(spoilts.length);
    expect(usual.filter((value) => !ClientMessage.safeParse(value).success)).toEqual([]);
  });

  test("[CL1] what a newer host says besides is kept", () => {
    const message: unknown = {
      type: "agent-events",
      session: "work",
      events: [{ ...record, more: 1 }],
      later: { a: 1 },
    };
    expect(isHostMessage(message)).toBe(true);
    expect(HostMessage.parse(message)).toEqual(message as HostMessage);
  });
});

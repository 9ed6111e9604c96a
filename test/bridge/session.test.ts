// Does every method of a session do its one thing, and reject at once when host or plugin are gone?
import { describe, expect, test } from "bun:test";
import { type Ask, createSession } from "../../src/bridge/session.ts";
import { ACTIONS, type ActionName, actionFor } from "../../src/protocol/actions.ts";
import {
  ActionTimeoutError,
  CapabilityNotSupportedError,
  Fault,
  SessionDisconnectedError,
} from "../../src/protocol/fault.ts";
import type { Result, SessionInfo } from "../../src/protocol/host-messages.ts";
import type { LogEntry } from "../../src/protocol/plugin.ts";
import { ALL_CAPABILITIES } from "../support/fake-plugin.ts";

const info: SessionInfo = {
  sessionId: "session-42",
  instanceId: "inst-1",
  context: "edit",
  placeName: "Place",
  placeId: 0,
  gameId: 0,
  state: "Edit",
  pluginVersion: "1.0.0",
  capabilities: ALL_CAPABILITIES,
  connectedAt: "2030-01-01T00:00:00.000Z",
  origin: "user",
};

const error = (code: string, message = "why"): Result => ({ type: "error", payload: { code, message } });
const entry = (body: string): LogEntry => ({ level: "Print", body, timestamp: 1 });
const logPush = (body: string): Result => ({ type: "logPush", payload: { entry: entry(body) } });

function setUp(answer: Result = { type: "anyResult", payload: { some: "thing" } }, capabilities = ALL_CAPABILITIES) {
  const asked: { action: string; payload: Record<string, unknown>; timeoutMs: number }[] = [];
  const ask: Ask = async (action, payload, timeoutMs) => {
    asked.push({ action, payload, timeoutMs });
    return answer;
  };
  const threw: unknown[] = [];
  const handle = createSession({ ...info, capabilities }, ask, (thrown) => void threw.push(thrown));
  return { ...handle, asked, threw };
}

type Session = ReturnType<typeof setUp>["session"];

const METHODS: Record<string, (session: Session) => Promise<unknown>> = {
  exec: (session) => session.exec("1"),
  queryState: (session) => session.queryState(),
  captureScreenshot: (session) => session.captureScreenshot({ format: "png" }),
  queryDataModel: (session) => session.queryDataModel({ path: "game" }),
  queryLogs: (session) => session.queryLogs({ count: 1 }),
  subscribe: (session) => session.subscribe(["logPush"]),
  unsubscribe: (session) => session.unsubscribe(["logPush"]),
  followLogs: (session) => session.followLogs().next(),
};

describe("after the loss", () => {
  for (const [name, call] of Object.entries(METHODS)) {
    test(`[IF2] ${name} rejects at once, and the error names the session and waitForSession()`, async () => {
      const { session, disconnected, asked } = setUp();
      disconnected("its host went away");
      expect(session.isConnected).toBe(false);
      const thrown = await call(session).catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(SessionDisconnectedError);
      expect((thrown as Fault).message).toContain("session-42");
      expect((thrown as Fault).message).toContain("waitForSession()");
      expect(asked).toEqual([]);
    });
  }

  test("[IF2] the table above has every method that asks something", () => {
    const { session } = setUp();
    const functions = Object.entries(session).filter(([, value]) => typeof value === "function");
    const asking = functions.map(([name]) => name).filter((name) => name !== "onPush" && name !== "onGone");
    expect(asking.toSorted()).toEqual(Object.keys(METHODS).toSorted());
  });

  test("[IF2] the loss is told once, to whoever asked to be told", () => {
    const { session, disconnected } = setUp();
    const told: string[] = [];
    session.onGone((gone) => void told.push(gone.sessionId));
    disconnected("its plugin went away");
    disconnected("its host went away");
    expect(told).toEqual(["session-42"]);
  });
});

describe("asking", () => {
  test("[LB1] exec gives success, output, value and error as the plugin told them", async () => {
    const payload = { success: false, output: [entry("hi")], error: "boom", code: "RUNTIME", value: 7 };
    const { session } = setUp({ type: "scriptComplete", payload });
    expect(await session.exec("x")).toEqual({
      success: false,
      output: [entry("hi")],
      error: "boom",
      code: "RUNTIME",
      value: 7,
    });
  });

  test("[LB1] exec survives a plugin that sends no proper output", async () => {
    const { session } = setUp({ type: "scriptComplete", payload: { success: true, output: {} } });
    expect(await session.exec("x")).toEqual({ success: true, output: [] });
  });

  test("[LB1] each method asks for its own action, with its payload", async () => {
    const { session, asked } = setUp();
    for (const [name, call] of Object.entries(METHODS)) if (name !== "followLogs") await call(session);
    expect(asked.map(({ action, payload }) => [action, payload])).toEqual([
      ["execute", { script: "1" }],
      ["queryState", {}],
      ["captureScreenshot", { format: "png" }],
      ["queryDataModel", { path: "game" }],
      ["queryLogs", { count: 1 }],
      ["subscribe", { events: ["logPush"] }],
      ["unsubscribe", { events: ["logPush"] }],
    ]);
  });

  test("[IF5] without a timeout of the caller's each action has its default", async () => {
    const { session, asked } = setUp();
    for (const [name, call] of Object.entries(METHODS)) if (name !== "followLogs") await call(session);
    const times = Object.fromEntries(asked.map(({ action, timeoutMs }) => [action, timeoutMs]));
    expect(times).toMatchObject({
      execute: 120_000,
      queryState: 5_000,
      captureScreenshot: 30_000,
      queryDataModel: 10_000,
      queryLogs: 10_000,
    });
    expect([ACTIONS.registerAction.timeoutMs, ACTIONS.syncActions.timeoutMs]).toEqual([10_000, 10_000]);
    await session.exec("1", { timeoutMs: 3 });
    expect(asked.at(-1)?.timeoutMs).toBe(3);
  });

  test("[IF4] the action table: queries and subscribe may be repeated, execute and what is unknown never", () => {
    const idempotent = (Object.keys(ACTIONS) as ActionName[]).filter((name) => ACTIONS[name].idempotent);
    for (const name of ["queryState", "captureScreenshot", "queryDataModel", "queryLogs", "subscribe"] as const) {
      expect(idempotent).toContain(name);
    }
    for (const name of ["execute", "run", "registerAction", "syncActions", "anything", "toString"]) {
      expect(actionFor(name).idempotent).toBe(false);
    }
  });

  test("[LB1] what the plugin does not offer is refused without asking it", async () => {
    const { session, asked } = setUp(undefined, ["execute"]);
    const thrown = await session.queryState().catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(CapabilityNotSupportedError);
    expect(asked).toEqual([]);
    await session.exec("1");
    expect(asked).toHaveLength(1);
  });
});

describe("failing", () => {
  const failure = async (answer: Result): Promise<Fault> => {
    const thrown = await setUp(answer)
      .session.queryState({ timeoutMs: 70 })
      .catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(Fault);
    return thrown as Fault;
  };

  test("[IF1] the host's TIMEOUT is an ActionTimeoutError with action and time", async () => {
    const fault = await failure(error("TIMEOUT"));
    expect(fault).toBeInstanceOf(ActionTimeoutError);
    expect(fault.data).toEqual({ action: "queryState", timeoutMs: 70 });
  });

  test("[IF1] SESSION_DISCONNECTED and SESSION_NOT_FOUND both mean that it is gone", async () => {
    for (const code of ["SESSION_DISCONNECTED", "SESSION_NOT_FOUND"]) {
      const fault = await failure(error(code));
      expect(fault).toBeInstanceOf(SessionDisconnectedError);
      expect(fault.message).toContain("session-42");
    }
  });

  test("[CL1] known codes keep their own, the plugin's codes are told in words", async () => {
    expect((await failure(error("TOO_MANY_REQUESTS"))).code).toBe("TOO_MANY_REQUESTS");
    expect(await failure(error("CAPABILITY_NOT_SUPPORTED"))).toBeInstanceOf(CapabilityNotSupportedError);
    const foreign = await failure(error("LUA_BROKE", "no such service"));
    expect(foreign.code).toBe("REFUSED");
    expect(foreign.message).toContain("LUA_BROKE: no such service");
  });

  test("[PL4] a failure told inside the result's own type is a failure too", async () => {
    const payload = { success: false, code: "NO_CAMERA", message: "no screen" };
    expect((await failure({ type: "stateResult", payload })).message).toContain("NO_CAMERA");
  });
});

describe("following", () => {
  test("[LB1] followLogs gives entries in order, also those before the subscription was answered", async () => {
    const { session, pushed, asked } = setUp();
    const logs = session.followLogs();
    const first = logs.next();
    pushed(logPush("one"));
    pushed({ type: "stateChange", payload: { entry: entry("not a log") } });
    pushed(logPush("two"));
    expect((await first).value).toEqual(entry("one"));
    expect((await logs.next()).value).toEqual(entry("two"));
    await logs.return?.();
    expect(asked.map(({ action }) => action)).toEqual(["subscribe", "unsubscribe"]);
  });

  test("[IF2] followLogs ends with the loss, after what came before it, and asks nobody any more", async () => {
    const { session, pushed, disconnected, asked } = setUp();
    const logs = session.followLogs();
    const first = logs.next();
    pushed(logPush("last words"));
    disconnected("its host went away");
    expect((await first).value).toEqual(entry("last words"));
    expect(await logs.next().catch((reason: unknown) => reason)).toBeInstanceOf(SessionDisconnectedError);
    expect(asked.map(({ action }) => action)).toEqual(["subscribe"]);
  });

  test("[LB1] a listener that throws is told to the connection, and the others hear", () => {
    const { session, pushed, threw } = setUp();
    const heard: string[] = [];
    session.onPush(() => {
      throw new Error("mine");
    });
    session.onPush(({ type }) => void heard.push(type));
    pushed(logPush("x"));
    expect(heard).toEqual(["logPush"]);
    expect(threw).toHaveLength(1);
  });
});

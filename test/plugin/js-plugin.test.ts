// Does the JavaScript plugin answer every action, whatever its scripts do?
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/platform/clock.ts";
import type { Clock } from "../../src/platform/world.ts";
import { createJsPlugin } from "../../src/plugin/js-plugin.ts";
import type { PluginMessage } from "../../src/plugin/plugin-client.ts";

function open(deadlineMs = 20_000, clock: Clock = systemClock) {
  const pushed: PluginMessage[] = [];
  const waiting = new Set<() => void>();
  const plugin = createJsPlugin({
    clock,
    deadlineMs,
    placeName: "notes",
    push(message) {
      pushed.push(message);
      for (const look of waiting) look();
    },
  });
  return {
    plugin,
    pushed,
    ask: (type: string, payload: Record<string, unknown> = {}) => plugin.handle(type, payload),
    push: (type: string) =>
      new Promise<PluginMessage>((resolve) => {
        waiting.add(() => {
          const message = pushed.findLast((one) => one.type === type);
          if (message) resolve(message);
        });
      }),
    [Symbol.dispose]: () => plugin.end(),
  };
}

/** Only what takes its time by `fire` passes; the thread itself is real. */
function handClock() {
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    ...systemClock,
    after(ms, run) {
      timers.set(run, ms);
      return () => timers.delete(run);
    },
  };
  const due = (ms: number) => [...timers].filter(([, after]) => after === ms).map(([run]) => run);
  return { clock, due };
}

describe("execute", () => {
  test("answers with value and output", async () => {
    using js = open();
    expect(await js.ask("execute", { script: "console.warn('careful'); ({ a: 1 })" })).toEqual({
      type: "scriptComplete",
      payload: {
        success: true,
        value: { a: 1 },
        valueType: "Object",
        output: [{ level: "Warning", body: "careful", timestamp: expect.any(Number) }],
      },
    });
  });

  test("takes the script as code too, and leaves out a value that is undefined", async () => {
    using js = open();
    const answer = await js.ask("execute", { code: "undefined" });
    expect(answer.payload).toStrictEqual({ success: true, valueType: "undefined", output: [] });
  });

  test("tells a failed script in its result, not as an error", async () => {
    using js = open();
    expect(await js.ask("execute", { script: "throw new Error('no')" })).toMatchObject({
      type: "scriptComplete",
      payload: { success: false, code: "SCRIPT_RUNTIME_ERROR", error: expect.stringContaining("no"), output: [] },
    });
  });

  test("says how much output did not fit", async () => {
    using js = open();
    const { payload } = await js.ask("execute", { script: "for (let i = 0; i < 1200; i += 1) console.log(i)" });
    expect(payload["outputDropped"]).toBe(200);
  });
});

describe("while a script loops", () => {
  test("[SC8] state and logs are answered at once, and the session lives on after its deadline", async () => {
    using js = open(4_000);
    const running = js.push("stateChange");
    const looping = js.ask("execute", { script: "var kept = 1; console.log('looping'); for (;;);" });
    expect((await running).payload).toEqual({
      previousState: "Edit",
      newState: "Run",
      timestamp: expect.any(Number),
    });
    const asked = async () => {
      // It runs for the others from the start; its first word takes a busy machine some time.
      while ((await js.ask("queryLogs")).payload["total"] === 0) await Bun.sleep(5);
      return [await js.ask("queryState"), await js.ask("queryLogs")];
    };
    const early = await Promise.race([looping, asked()]);
    expect(early).toMatchObject([
      { type: "stateResult", payload: { state: "Run", placeId: 0, placeName: "notes", gameId: 0 } },
      { type: "logsResult", payload: { entries: [{ body: "looping" }], total: 1, bufferCapacity: 1000 } },
    ]);
    expect((await looping).payload).toMatchObject({ success: false, code: "SCRIPT_DEADLINE" });
    expect(js.plugin.state()).toBe("Edit");
    expect(js.pushed.at(-1)).toMatchObject({
      type: "stateChange",
      payload: { previousState: "Run", newState: "Edit" },
    });
    expect((await js.ask("execute", { script: "typeof kept" })).payload).toMatchObject({ value: "undefined" });
    expect((await js.ask("queryLogs")).payload).toMatchObject({ total: 1 });
  });

  test("the state is told after 100 ms, and not at all for a shorter script", async () => {
    const { clock, due } = handClock();
    using js = open(20_000, clock);
    await js.ask("execute", { script: "1" });
    expect(due(100)).toEqual([]);
    expect(js.pushed).toEqual([]);

    await js.ask("subscribe", { events: ["logPush"] });
    const logged = js.push("logPush");
    const running = js.ask("execute", {
      script: "console.log('on'); await new Promise((done) => setTimeout(done, 50))",
    });
    await logged;
    expect(js.plugin.state()).toBe("Edit");
    for (const fire of due(100)) fire();
    expect(js.plugin.state()).toBe("Run");
    await running;
    expect(js.plugin.state()).toBe("Edit");
    const changes = js.pushed.filter(({ type }) => type === "stateChange").map(({ payload }) => payload["newState"]);
    expect(changes).toEqual(["Run", "Edit"]);
  });
});

describe("subscriptions", () => {
  test("push logs from subscribe to unsubscribe, and unknown events are left out", async () => {
    using js = open();
    const log = (body: string) => js.ask("execute", { script: `console.log("${body}")` });
    await log("unheard");
    expect(await js.ask("subscribe", { events: ["logPush", "weather"] })).toEqual({
      type: "subscribeResult",
      payload: { events: ["logPush"] },
    });
    await log("heard");
    expect(await js.ask("unsubscribe", { events: ["logPush"] })).toEqual({
      type: "unsubscribeResult",
      payload: { events: ["logPush"] },
    });
    await log("unheard too");
    expect(js.pushed.filter(({ type }) => type === "logPush")).toEqual([
      { type: "logPush", payload: { entry: { level: "Print", body: "heard", timestamp: expect.any(Number) } } },
    ]);
  });

  test("are forgotten when the host is gone, but the logs are not", async () => {
    using js = open();
    await js.ask("subscribe", { events: ["logPush"] });
    js.plugin.disconnected();
    await js.ask("execute", { script: "console.error('alone')" });
    expect(js.pushed.filter(({ type }) => type === "logPush")).toEqual([]);
    expect((await js.ask("queryLogs", { levels: ["Error"], count: 5, direction: "head" })).payload).toMatchObject({
      entries: [{ body: "alone" }],
    });
  });
});

describe("queryDataModel", () => {
  test("answers with the instance", async () => {
    using js = open();
    await js.ask("execute", { script: "let box = { lid: { open: true } }" });
    expect(await js.ask("queryDataModel", { path: "box", depth: 1 })).toMatchObject({
      type: "dataModelResult",
      payload: { instance: { path: "box", children: [{ path: "box.lid", properties: { open: true } }] } },
    });
    expect(await js.ask("queryDataModel", { listServices: true })).toMatchObject({
      payload: { instance: { children: [{ name: "box" }] } },
    });
  });

  test("answers with an error for what is not there", async () => {
    using js = open();
    expect(await js.ask("queryDataModel", { path: "ghost" })).toEqual({
      type: "error",
      payload: { code: "INSTANCE_NOT_FOUND", message: 'There is no "ghost" in the sandbox' },
    });
  });
});

describe("a request that cannot be met", () => {
  test.each([
    ["execute", {}, "script"],
    ["execute", { script: 1 }, "script"],
    ["execute", { code: {} }, "code"],
    ["queryDataModel", {}, "path"],
    ["queryDataModel", { path: 1 }, "path"],
    ["queryDataModel", { path: "", depth: 9 }, "depth"],
    ["queryDataModel", { path: "", depth: 1.5 }, "depth"],
    ["queryDataModel", { path: "", properties: "a" }, "properties"],
    ["queryDataModel", { path: "", listServices: 1 }, "listServices"],
    ["queryDataModel", { path: "", find: "a" }, "find"],
    ["queryDataModel", { path: "", find: {} }, "find.name"],
    ["queryDataModel", { path: "", find: { name: "a", recursive: "yes" } }, "find.recursive"],
    ["queryLogs", { count: -1 }, "count"],
    ["queryLogs", { direction: "up" }, "direction"],
    ["queryLogs", { levels: ["Loud"] }, "levels"],
    ["subscribe", {}, "events"],
    ["unsubscribe", { events: [1] }, "events"],
  ])("%s with %j names the field", async (type, payload, field) => {
    using js = open();
    expect(await js.ask(type, payload)).toMatchObject({
      type: "error",
      payload: { code: "INVALID_PAYLOAD", message: expect.stringContaining(`Field "${field}" must be`) },
    });
  });

  test("is told: no screen, no such action, not even one that objects are born with", async () => {
    using js = open();
    expect(await js.ask("captureScreenshot")).toMatchObject({ payload: { code: "CAPABILITY_NOT_SUPPORTED" } });
    expect(await js.ask("registerAction")).toMatchObject({ type: "error", payload: { code: "UNKNOWN_REQUEST" } });
    expect(await js.ask("toString")).toMatchObject({ type: "error", payload: { code: "UNKNOWN_REQUEST" } });
    expect(js.plugin.capabilities.toSorted()).toEqual([
      "execute",
      "heartbeat",
      "queryDataModel",
      "queryLogs",
      "queryState",
      "subscribe",
    ]);
  });

  test("takes null for a field as if it were absent", async () => {
    using js = open();
    expect(await js.ask("queryLogs", { count: null, levels: null })).toMatchObject({ type: "logsResult" });
  });
});

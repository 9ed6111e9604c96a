// Does the sandbox outlive every script?
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/platform/clock.ts";
import { createSandbox } from "../../src/plugin/sandbox.ts";
import { openSandbox } from "./open-sandbox.ts";

async function inProcess(code: string): Promise<{ stdout: string; exitCode: number }> {
  const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).pathname);
  const head = `
    import { createSandbox } from ${source("plugin/sandbox.ts")};
    import { systemClock } from ${source("platform/clock.ts")};
    const open = (onLog) => createSandbox({ clock: systemClock, onLog });`;
  const child = Bun.spawn({ cmd: [process.execPath, "-e", head + code], stdout: "pipe" });
  return { stdout: await new Response(child.stdout).text(), exitCode: await child.exited };
}

const FRESH = "the session goes on with fresh state";

describe("a script that does not come back", () => {
  test.each(["for (;;);", "for (;;) { try { for (;;); } catch {} }", "await new Promise(() => {})"])(
    "[SC8] %p is ended at its deadline and told as such",
    async (script) => {
      using box = openSandbox();
      await box.run("var kept = 1");
      expect(await box.sandbox.execute(`console.log('before'); ${script}`, 300)).toEqual({
        success: false,
        code: "SCRIPT_DEADLINE",
        error: `The script ran longer than 300 ms and was ended; ${FRESH}`,
        output: [expect.objectContaining({ body: "before" })],
        outputDropped: 0,
      });
      expect(await box.run("typeof kept")).toMatchObject({ success: true, value: "undefined" });
    },
  );

  test("[SC8] does not take those with it that wait behind it", async () => {
    using box = openSandbox();
    const results = await Promise.all([
      box.run("var kept = 'old'"),
      box.sandbox.execute("for (;;);", 300),
      box.run("typeof kept"),
      box.query("Math"),
    ]);
    expect(results.map((result) => (result.success ? "fine" : result.code))).toEqual([
      "fine",
      "SCRIPT_DEADLINE",
      "fine",
      "fine",
    ]);
    expect(results[2]).toMatchObject({ value: "undefined" });
    expect(box.sandbox.busy).toBe(false);
  });

  test("[SC8] may also be a query, which a careless script makes endless", async () => {
    using box = openSandbox();
    await box.run("var some = {}; Object.getOwnPropertyNames = () => { for (;;); }");
    expect(await box.sandbox.query({ path: "some" }, 300)).toEqual({
      success: false,
      code: "SCRIPT_DEADLINE",
      error: `The query ran longer than 300 ms and was ended; ${FRESH}`,
    });
  });

  test("[SC8] is noticed too if it only logs without end, and the plugin's own thread stays free", async () => {
    using box = openSandbox();
    const flood = box.sandbox.execute("for (;;) console.log('again')", 1000);
    await box.logged("again");
    let turns = 0;
    for (let over = false; !over; turns += 1) {
      over = await Promise.race([flood.then(() => true), Bun.sleep(1).then(() => false)]);
    }
    expect(turns).toBeGreaterThan(20);
    const result = await flood;
    expect(result).toMatchObject({ code: "SCRIPT_DEADLINE", outputDropped: expect.any(Number) });
    expect(result.output).toHaveLength(1000);
    expect(box.logs.length).toBeLessThan(200_000);
  });

  test("counts its time from when it starts, not from when it was asked for", async () => {
    using box = openSandbox();
    const results = await Promise.all([
      box.run("await new Promise((resolve) => setTimeout(resolve, 900))"),
      box.sandbox.execute("'in time'", 700),
    ]);
    expect(results[1]).toMatchObject({ success: true, value: "in time" });
  });
});

describe("a script that breaks things", () => {
  test("[SC8] ends only its own thread with process.exit, and is told so", async () => {
    using box = openSandbox();
    await box.run("var kept = 1");
    expect(await box.run("console.log('bye'); process.exit(3)")).toMatchObject({
      success: false,
      code: "SCRIPT_EXITED",
      error: `The script ended its own thread with exit code 3; ${FRESH}`,
      output: [{ body: "bye" }],
    });
    expect(await box.run("typeof kept")).toMatchObject({ value: "undefined" });
  });

  test("[SC8] and exits when nobody runs anything is told in the log", async () => {
    using box = openSandbox();
    expect(await box.run("setTimeout(() => process.exit(4), 20); 'done'")).toMatchObject({ value: "done" });
    expect(await box.logged("exit code 4")).toMatchObject({ level: "Warning", body: expect.stringContaining(FRESH) });
    expect(await box.run("'next'")).toMatchObject({ value: "next" });
  });

  test("[SC8] and leaves a loop behind does not cost the next script its turn", async () => {
    using box = openSandbox();
    await box.run("setTimeout(() => { console.log('looping'); for (;;); }, 0); 'done'");
    await box.logged("looping");
    expect(await box.sandbox.execute("'ran once'", 300)).toMatchObject({
      success: true,
      value: "ran once",
      output: [
        {
          level: "Warning",
          body: `Code left running by an earlier script blocked the sandbox and was ended; ${FRESH}`,
        },
      ],
    });
  });

  test("[SC8] by an error in a timer or a promise is told in the log and keeps its state", async () => {
    // In a process of its own, because under `bun test` an uncaught error ends a thread in spite of its listeners.
    const { stdout } = await inProcess(`
      const logs = [];
      const both = Promise.withResolvers();
      const sandbox = open((entry) => logs.push(entry) === 2 && both.resolve());
      await sandbox.execute("var kept = 1; setTimeout(() => { throw new Error('late') }, 0); Promise.reject(Error('lost')); 0", 9000);
      await both.promise;
      const { value } = await sandbox.execute("kept", 9000);
      console.log(JSON.stringify({ value, logs }));
      sandbox.end();`);
    expect(JSON.parse(stdout)).toEqual({
      value: 1,
      logs: [
        {
          level: "Error",
          body: expect.stringMatching(/^Unhandled rejection: Error: lost\n.*script-1.js/),
          timestamp: expect.any(Number),
        },
        {
          level: "Error",
          body: expect.stringMatching(/^Uncaught Error: late\n.*script-1.js:1:\d+\)$/),
          timestamp: expect.any(Number),
        },
      ],
    });
  });

  test("[SC8] by taking our listeners off ends its own thread only", async () => {
    using box = openSandbox();
    const script = "process.removeAllListeners(); setTimeout(() => { throw new Error('z') }, 0); new Promise(() => {})";
    expect(await box.run(script)).toMatchObject({ success: false, code: "SCRIPT_EXITED" });
    expect(await box.run("'next'")).toMatchObject({ value: "next" });
  });

  test("cannot answer in the sandbox's name", async () => {
    using box = openSandbox();
    const forged = "{ kind: 'answer', answer: { success: true, value: 'forged', valueType: 'string' } }";
    const result = await box.run(`
      globalThis.postMessage?.(${forged});
      require('node:worker_threads').parentPort?.postMessage(${forged});
      MessagePort.prototype.postMessage = () => { throw new Error('diverted') };
      'true'`);
    expect(result).toMatchObject({ success: true, value: "true" });
    expect(await box.run("typeof postMessage")).toMatchObject({ value: "undefined" });
  });
});

describe("the end of a sandbox", () => {
  test("answers everything that runs or waits, and whatever comes later", async () => {
    const sandbox = createSandbox({ clock: systemClock, onLog: () => {} });
    const asked = [
      sandbox.execute("for (;;);", 60_000),
      sandbox.execute("1", 60_000),
      sandbox.query({ path: "" }, 60_000),
    ];
    sandbox.end();
    sandbox.end();
    asked.push(sandbox.execute("2", 60_000));
    for (const answer of await Promise.all(asked)) {
      expect(answer).toMatchObject({ success: false, code: "SESSION_ENDED" });
    }
  });

  test("lets the process exit, even in the middle of an endless loop", async () => {
    const { stdout, exitCode } = await inProcess(`
      const sandbox = open(() => sandbox.end());
      const answer = await sandbox.execute("console.log('looping'); for (;;);", 1e9);
      console.log(answer.code);`);
    expect([stdout, exitCode]).toEqual(["SESSION_ENDED\n", 0]);
  });
});

// Does what a script prints come out, at the right level?
import { describe, expect, test } from "bun:test";
import { openSandbox } from "./open-sandbox.ts";

describe("what a script prints", () => {
  test("comes with the level of the method, formatted like node does", async () => {
    using box = openSandbox();
    const before = Date.now() / 1000;
    const { output } = await box.run(
      "console.log('%s is %d', 'x', 3, { a: [1] }); console.info('i'); console.debug('d'); console.warn('w'); console.error('e')",
    );
    expect(output.map(({ level, body }) => [level, body])).toEqual([
      ["Print", "x is 3 { a: [ 1 ] }"],
      ["Info", "i"],
      ["Print", "d"],
      ["Warning", "w"],
      ["Error", "e"],
    ]);
    expect(box.logs).toEqual(output);
    for (const { timestamp } of output) {
      expect(timestamp).toBeGreaterThanOrEqual(before);
      expect(timestamp).toBeLessThanOrEqual(Date.now() / 1000);
    }
  });

  test("by other means than console is told as well", async () => {
    using box = openSandbox();
    const { output } = await box.run(
      "process.stdout.write('out\\n'); process.stderr.write('err'); console.dir({ b: 2 }); console.trace('here')",
    );
    expect(output.map(({ level, body }) => [level, body])).toEqual([
      ["Print", "out"],
      ["Warning", "err"],
      ["Print", "{ b: 2 }"],
      ["Warning", expect.stringMatching(/^Trace: here\n {4}at script-1.js:1:\d+$/)],
    ]);
  });

  test("is told at once, not when the script is done", async () => {
    using box = openSandbox();
    const running = box.run("console.log('first'); new Promise((resolve) => { globalThis.finish = resolve })");
    expect(await box.logged("first")).toMatchObject({ level: "Print" });
    expect(box.sandbox.busy).toBe(true);
    box.sandbox.end();
    expect(await running).toMatchObject({ code: "SESSION_ENDED", output: [{ body: "first" }] });
  });

  test("belongs to the run it happened in", async () => {
    using box = openSandbox();
    const results = await Promise.all([box.run("console.log('one')"), box.run("2"), box.run("console.log('three')")]);
    expect(results.map(({ output }) => output.map(({ body }) => body))).toEqual([["one"], [], ["three"]]);
  });

  test("is cut where a single text is beyond measure, and the newest are kept of too many", async () => {
    using box = openSandbox();
    const long = await box.run("console.log('y'.repeat(3_000_000))");
    expect(long.output[0]?.body).toEndWith("y… (1951424 more characters)");
    const many = await box.run("for (let i = 0; i < 3000; i += 1) console.log(i)");
    expect([many.output.length, many.output[999]?.body, many.outputDropped]).toEqual([1000, "2999", 2000]);
  });
});

// What do scripts answer, and what stays of them?
import { describe, expect, test } from "bun:test";
import { openSandbox } from "./open-sandbox.ts";

describe("a script", () => {
  test("leaves its let, const, var, class and function to the scripts after it", async () => {
    using box = openSandbox();
    await box.run("let a = 1; const b = 2; var c = 3; class D { e = 4 } function f() { return 5 }");
    expect(await box.run("[a, b, c, new D().e, f()]")).toMatchObject({ value: [1, 2, 3, 4, 5], valueType: "Array" });
  });

  test.each([
    ["'text'", "text", "string"],
    ["null", null, "null"],
    ["({ a: [1, { b: null }], gone: undefined })", { a: [1, { b: null }] }, "Object"],
    ["Promise.resolve(7)", 7, "number"],
    ["await Promise.resolve(8)", 8, "number"],
    ["const x = await 9; return x", 9, "number"],
    ["return 10", 10, "number"],
    ["NaN", "NaN", "number"],
    ["12n", "12n", "bigint"],
    ["new Map([[1, 2]])", "Map(1) { 1 => 2 }", "Map"],
    ["() => 1", "[Function (anonymous)]", "Function"],
    ["const c = {}; c.c = c; c", "<ref *1> { c: [Circular *1] }", "Object"],
    ["({ get x() { throw new Error('called') } })", "{ x: [Getter] }", "Object"],
    ["[1, , 3]", "[ 1, <1 empty item>, 3 ]", "Array"],
    ["(await import('node:path')).posix.join('a', 'b')", "a/b", "string"],
    ["require('node:path').posix.basename('/a/b')", "b", "string"],
  ])("%p answers with its value or a description of it", async (script, value, valueType) => {
    using box = openSandbox();
    expect(await box.run(script)).toEqual({ success: true, value, valueType, output: [], outputDropped: 0 });
  });

  test.each([
    [`await 1; "done"`, "done"],
    [`await 1; "done";`, "done"],
    [`await 1; "done"; // said`, "done"],
    [`await 1\n"done" /* said */`, "done"],
    [`await 1 // one; two\n"done"`, "done"],
    [`const x = await 2; x + 1`, 3],
    [`const x = await 2\nx\n+ 1`, 3],
    [`const f = async () => { return 4 }\nawait f()\n;[5, 6]`, [5, 6]],
    [`await 1; [1, 2]\n  .map((n) => n * 2)`, [2, 4]],
    ["await 1; `a;\nb`", "a;\nb"],
    [`await 1; ({ a: 1 })`, { a: 1 }],
    [`await 1; if (true) { 1 } "done"`, "done"],
    [`for (const n of [1]) { await n }\n"done"`, "done"],
    [`await 1; for (let n = 0; n < 2; n++) globalThis.n = n; n`, 1],
    [`if (await 0) return 1; "done"`, "done"],
    [`if (await 1) return 7; "done"`, 7],
    [`await 1; await Promise.resolve("done")`, "done"],
    [`await 1;\n// what it is\n"done"`, "done"],
    [`const text = "a; b"; await text; // c; d`, "a; b"],
  ])("%p with top-level await has the value that it ends with", async (script, value) => {
    using box = openSandbox();
    expect(await box.run(script)).toMatchObject({ success: true, value });
  });

  test.each([
    [`await 1; { let a = 2; a }`],
    [`await 1; function f() {}`],
    [`await 1; class A {}`],
    [`await 1; let b = 1`],
    [`await 1; if (true) 2; else 3`],
  ])("%p with top-level await ends with no expression, and has no value", async (script) => {
    using box = openSandbox();
    const result = await box.run(script);
    expect(result).toMatchObject({ success: true });
    expect(result).not.toHaveProperty("value");
  });

  test("with top-level await tells in which line and column its last expression failed", async () => {
    using box = openSandbox();
    const result = await box.run("await 1\n  null.x");
    expect(result).toMatchObject({ error: expect.stringMatching(/async-script-1\.js:2:\d\)/) });
  });

  test("without a value answers without one", async () => {
    using box = openSandbox();
    const result = await box.run("undefined");
    expect(result).toMatchObject({ success: true, valueType: "undefined" });
    expect("value" in result).toBe(false);
  });

  test("with a value too big for a frame answers with a short description", async () => {
    using box = openSandbox();
    const many = await box.run("Array.from({ length: 900 }, (_, i) => 'n'.repeat(10_000))");
    expect(many).toMatchObject({ success: true, valueType: "Array" });
    expect(JSON.stringify(many).length).toBeLessThan(1_100_000);
    const text = await box.run("'t'.repeat(9_000_000)");
    expect(text).toMatchObject({
      valueType: "string",
      value: expect.stringMatching(/^t{1000000}… \(8000000 more characters\)$/),
    });
    const shared = await box.run("let t = [1]; for (let i = 0; i < 60; i += 1) t = [t, t]; t");
    expect(shared).toMatchObject({ success: true, value: expect.stringContaining("[Array]") });
  });

  test("with top-level await keeps its declarations to itself, but what it gives to globalThis stays", async () => {
    using box = openSandbox();
    await box.run("const inner = await 1; globalThis.outer = inner + 1");
    expect(await box.run("[typeof inner, outer]")).toMatchObject({ value: ["undefined", 2] });
  });

  test.each([
    ["let = = 3", "SyntaxError: Unexpected token '='\n    at <parse> (script-1.js:1)"],
    ["\nawait f(;", "SyntaxError: Unexpected token ';'\n    at <parse> (async-script-1.js:2)"],
    ["}); (() => {", expect.stringContaining("SyntaxError")],
    ["}); await 1; (() => {", expect.stringContaining("SyntaxError")],
  ])("%p is refused before it runs", async (script, error) => {
    using box = openSandbox();
    expect(await box.run(script)).toMatchObject({ success: false, code: "SCRIPT_LOAD_ERROR", error });
  });

  test("that declares a name again is refused before it runs", async () => {
    using box = openSandbox();
    await box.run("let taken = 1");
    expect(await box.run("globalThis.ran = true; let taken = 2")).toMatchObject({
      code: "SCRIPT_LOAD_ERROR",
      error: expect.stringContaining("taken"),
    });
    expect(await box.run("[taken, typeof ran]")).toMatchObject({ value: [1, "undefined"] });
  });

  test.each([
    [
      "function a() { null.x }\n\na()",
      /^TypeError: null is not an object.*\n {4}at a \(script-1.js:1:\d+\)\n {4}at script-1.js:3:\d+$/,
    ],
    ["JSON.parse('{')", /^SyntaxError: JSON Parse error.*\n.*script-1.js:1:\d+\)?$/s],
    ["await Promise.reject(new RangeError('far'))", /^RangeError: far\n {4}at .*\(async-script-1.js:1:3\d\)$/],
    ["throw 'just text'", /^just text$/],
    ["throw { a: 1 }", /^\{ a: 1 \}$/],
    ["throw new DOMException('stopped', 'AbortError')", /^AbortError: stopped/],
  ])("%p tells what it threw, with its own frames only", async (script, error) => {
    using box = openSandbox();
    const result = await box.run(script);
    expect(result).toMatchObject({ success: false, code: "SCRIPT_RUNTIME_ERROR", error: expect.stringMatching(error) });
  });
});

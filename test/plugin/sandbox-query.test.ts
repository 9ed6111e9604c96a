// Are the sandbox's objects found and told, without touching them?
import { describe, expect, test } from "bun:test";
import type { DataModelInstance, QueryAnswer } from "../../src/plugin/sandbox-wire.ts";
import { openSandbox } from "./open-sandbox.ts";

function instanceOf(answer: QueryAnswer): DataModelInstance {
  if (!answer.success) throw new Error(answer.error);
  return answer.instance;
}
const names = (instance: DataModelInstance) => instance.children?.map(({ name }) => name).sort();

async function openWith(script: string) {
  const box = openSandbox();
  expect(await box.run(script)).toMatchObject({ success: true });
  return { ...box, ask: async (path: string, more: object = {}) => instanceOf(await box.query(path, more)) };
}

const CONFIG = `var config = { users: [{ name: "Ann" }, { name: "Bo" }], size: 3, "first name": "x", f() {} };`;

describe("a query of the data model", () => {
  test("tells primitives as properties and counts the rest as children", async () => {
    using box = await openWith(CONFIG);
    expect(await box.ask("config")).toEqual({
      name: "config",
      className: "Object",
      path: "config",
      properties: { size: 3, "first name": "x" },
      attributes: {},
      childCount: 2,
    });
  });

  test("goes down as deep as it was told and no deeper", async () => {
    using box = await openWith(CONFIG);
    const one = await box.ask("config", { depth: 1 });
    expect(one.children?.map(({ path, className, childCount }) => [path, className, childCount])).toEqual([
      ["config.users", "Array", 2],
      ["config.f", "Function", 0],
    ]);
    expect(one.children?.[0]?.children).toBeUndefined();
    const two = await box.ask("config", { depth: 2 });
    expect(two.children?.[0]?.children?.[1]).toMatchObject({ path: "config.users[1]", properties: { name: "Bo" } });
  });

  test.each([
    ["config.users[0].name", "string", "Ann"],
    ['config["first name"]', "string", "x"],
    ["globalThis.config.size", "number", 3],
  ])("%p leads to a primitive", async (path, className, value) => {
    using box = await openWith(CONFIG);
    expect(await box.ask(path)).toMatchObject({ className, properties: { value }, childCount: 0 });
  });

  test.each(["nope", "config.nope", "config.users[2]", "config.size.x", "not a path", "if", "this"])(
    "%p is not found",
    async (path) => {
      using box = await openWith(CONFIG);
      expect(await box.query(path)).toMatchObject({ success: false, code: "INSTANCE_NOT_FOUND" });
    },
  );

  test("reads let, const and class variables too, and lists what scripts made, not what was there", async () => {
    using box = await openWith(`${CONFIG} let list = [1]; const { a, b: [c] } = { a: { z: 1 }, b: [7] };
      class Thing { inner = 1 } function make() { const hidden = {}; return hidden } globalThis.flag = true; 0`);
    expect(await box.ask("list")).toMatchObject({ className: "Array", properties: { 0: 1, length: 1 } });
    const services = await box.ask("", { listServices: true });
    expect(names(services)).toEqual(["Thing", "a", "config", "list", "make"]);
    expect(services.properties).toEqual({ flag: true, c: 7 });
    expect(services.childCount).toBe(5);
  });

  test("of the root tells all globals", async () => {
    using box = await openWith("0");
    const root = await box.ask("", { depth: 1 });
    expect(root).toMatchObject({ name: "globalThis", path: "globalThis" });
    expect(names(root)).toContain("Math");
    expect(root.children?.find(({ name }) => name === "globalThis")?.children).toBeUndefined();
  });

  test("calls no getter and no proxy's trap", async () => {
    using box = await openWith(`var touched = 0; const touch = () => { touched += 1; return undefined };
      var careful = { get secret() { touch(); return {} }, proxy: new Proxy({}, new Proxy({}, { get: touch })) };
      Object.defineProperty(globalThis, "lazy", { get: touch, configurable: true }); 0`);
    expect(await box.ask("careful", { depth: 3 })).toMatchObject({
      properties: { secret: { type: "Unsupported", typeName: "getter", toString: "[Getter]" } },
      children: [{ className: "Proxy", childCount: 0 }],
    });
    await box.ask("", { depth: 2 });
    await box.ask("", { listServices: true, depth: 2 });
    for (const path of ["careful.secret", "lazy", "careful.proxy.x"]) {
      expect(await box.query(path)).toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    }
    expect(await box.query("", { find: { name: "nowhere", recursive: true } })).toMatchObject({ success: false });
    expect(await box.ask("touched")).toMatchObject({ properties: { value: 0 } });
  });

  test("names what JSON cannot carry", async () => {
    using box = await openWith(
      "var odd = { n: NaN, u: undefined, b: 10n, s: Symbol('x'), long: 'l'.repeat(2e6), nil: null }",
    );
    const { properties } = await box.ask("odd");
    expect(properties).toMatchObject({
      n: { type: "Unsupported", typeName: "number", toString: "NaN" },
      u: { type: "Unsupported", typeName: "undefined", toString: "undefined" },
      b: { type: "Unsupported", typeName: "bigint", toString: "10" },
      s: { type: "Unsupported", typeName: "symbol", toString: "Symbol(x)" },
      long: { type: "Unsupported", typeName: "string" },
      nil: null,
    });
    expect(JSON.stringify(properties).length).toBeLessThan(2000);
  });

  test("tells only the properties asked for, and none for an empty list", async () => {
    using box = await openWith(CONFIG);
    expect((await box.ask("config", { properties: ["size", "other"] })).properties).toEqual({ size: 3 });
    expect((await box.ask("config", { properties: [] })).properties).toEqual({});
  });

  test("finds by name, directly below or anywhere, nearest first", async () => {
    using box = await openWith(`${CONFIG} let far = { deep: { name: "far", pearl: { shine: 1 } } }; 0`);
    expect(await box.ask("config", { find: { name: "users" }, depth: 1 })).toMatchObject({
      path: "config.users",
      children: [{ path: "config.users[0]" }, { path: "config.users[1]" }],
    });
    expect(await box.query("config", { find: { name: "name" } })).toMatchObject({
      code: "INSTANCE_NOT_FOUND",
      error: 'There is no "name" in "config"',
    });
    expect(await box.ask("config", { find: { name: "name", recursive: true } })).toMatchObject({
      path: "config.users[0].name",
    });
    expect(await box.ask("", { find: { name: "pearl", recursive: true } })).toMatchObject({
      path: "far.deep.pearl",
      properties: { shine: 1 },
    });
    expect(await box.ask("", { find: { name: "far" } })).toMatchObject({ path: "far" });
  });
});

describe("a query stays bounded", () => {
  test("with cycles", async () => {
    using box = await openWith("var ring = { name: 'r' }; ring.next = { back: ring }; 0");
    const back = (await box.ask("ring", { depth: 8 })).children?.[0]?.children?.[0];
    expect(back).toMatchObject({ path: "ring.next.back", childCount: 1, properties: { name: "r" } });
    expect(back?.children).toBeUndefined();
  });

  test("with big arrays: a thousand children are told, all are counted", async () => {
    using box = await openWith("var big = Array.from({ length: 300_000 }, (_, i) => (i % 3 ? { i } : i)); 0");
    const big = await box.ask("big", { depth: 1 });
    expect([big.children?.length, big.childCount, big.truncated]).toEqual([1000, 200_000, true]);
    expect(Object.keys(big.properties)).toHaveLength(1000);
    expect(big.properties["length"]).toBe(300_000);
    expect(await box.ask("big[299999]")).toMatchObject({ properties: { i: 299_999 } });
  });

  test("with arrays that are mostly holes, and with binary data", async () => {
    using box = await openWith("var holes = []; holes[4e9] = 1; var bytes = new Uint8Array(50e6); 0");
    expect(await box.ask("holes")).toMatchObject({ childCount: 0, truncated: true });
    expect(Object.keys((await box.ask("bytes")).properties)).toHaveLength(1000);
  });

  test("in what it answers, whatever the graph", async () => {
    using box = await openWith(`var all = {}; for (let layer = 0; layer < 9; layer += 1) {
      const below = all; all = Array.from({ length: 50 }, () => ({ text: "t".repeat(500), below })); } 0`);
    const answer = await box.ask("all", { depth: 8 });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeGreaterThan(1024 * 1024);
    expect(JSON.stringify(answer)).toContain('"truncated":true');
    await box.run("var keys = { ['k'.repeat(5e6)]: {}, ['q'.repeat(5e6)]: 1, small: 2 }");
    expect(await box.ask("keys", { depth: 1 })).toMatchObject({
      childCount: 1,
      truncated: true,
      properties: { small: 2 },
    });
  });
});

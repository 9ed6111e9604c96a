// Are paths read and written the same way?
import { describe, expect, test } from "bun:test";
import { joinPath, parsePath } from "../../src/plugin/sandbox-path.ts";

describe("a path into the sandbox", () => {
  test.each([
    ["", []],
    ["globalThis", []],
    ["config", ["config"]],
    ["globalThis.config", ["config"]],
    ["globalThis[0]", ["0"]],
    ["config.users[0].name", ["config", "users", "0", "name"]],
    ['a["first \\"name\\""].b', ["a", 'first "name"', "b"]],
    ["a['x.y'][\"z]\"]", ["a", "x.y", "z]"]],
    ["größe.$_1", ["größe", "$_1"]],
  ])("%p is read as its keys", (path, keys) => {
    expect(parsePath(path)).toEqual(keys);
  });

  test.each(["a b", ".a", "a.", "a..b", "a[", "a[b]", "1", "a()", 'a["b]', "a.1"])("%p is no path", (path) => {
    expect(parsePath(path)).toBeUndefined();
  });

  test("what is written can be read again", () => {
    for (const keys of [["a"], ["0"], ["a", "0", "b c", 'd"e', "", "true", "__proto__"], ["a", "01"]]) {
      expect(parsePath(keys.reduce(joinPath, ""))).toEqual(keys);
    }
  });
});

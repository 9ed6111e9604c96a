// Are private files kept private, written whole or not at all, and created once?
import { expect, test } from "bun:test";
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { systemFiles as files } from "../../src/platform/files.ts";
import { Fault } from "../../src/protocol/fault.ts";
import { createTempDir } from "../support/temp-dir.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("[SC3] a directory is made with its parents, 0700, and making it again is nothing", () => {
  using temp = createTempDir();
  files.directory(temp.at("a", "b", "c"));
  files.directory(temp.at("a", "b", "c"));
  expect(modeOf(temp.at("a", "b", "c"))).toBe("700");
});

test("[SC3] a directory or file with looser modes is an error that names the path, tighter ones are fine", () => {
  using temp = createTempDir();
  files.directory(temp.at("dir"));
  files.replace(temp.at("dir", "file"), "x");
  for (const mode of [0o701, 0o710, 0o777]) {
    chmodSync(temp.at("dir"), mode);
    expect(() => files.directory(temp.at("dir"))).toThrow(`chmod 0700 "${temp.at("dir")}"`);
  }
  chmodSync(temp.at("dir"), 0o700);
  for (const mode of [0o601, 0o640, 0o666]) {
    chmodSync(temp.at("dir", "file"), mode);
    expect(() => files.readPrivate(temp.at("dir", "file"))).toThrow(`chmod 0600 "${temp.at("dir", "file")}"`);
    expect(() => files.createOnce(temp.at("dir", "file"), "y")).toThrow(Fault);
  }
  chmodSync(temp.at("dir", "file"), 0o400);
  expect(files.readPrivate(temp.at("dir", "file"))).toBe("x");
});

test("[SC3] a link is refused, though what it leads to is private", () => {
  using temp = createTempDir();
  files.directory(temp.at("dir"));
  files.replace(temp.at("file"), "x");
  symlinkSync(temp.at("file"), temp.at("to-file"));
  symlinkSync(temp.at("dir"), temp.at("to-dir"));
  expect(() => files.readPrivate(temp.at("to-file"))).toThrow(`"${temp.at("to-file")}" is a link`);
  expect(() => files.createOnce(temp.at("to-file"), "y")).toThrow("is a link");
  expect(() => files.directory(temp.at("to-dir"))).toThrow("is a link");
});

test("[SC3] a link that leads nowhere is not written through", () => {
  using temp = createTempDir();
  symlinkSync(temp.at("nowhere"), temp.at("dangling"));
  expect(() => files.createOnce(temp.at("dangling"), "y")).toThrow("is a link");
  expect(readdirSync(temp.path)).toEqual(["dangling"]);
});

test("[HO7] replace writes 0600 in one step, over whatever was there, and leaves nothing beside it", () => {
  using temp = createTempDir();
  writeFileSync(temp.at("loose"), "old", { mode: 0o644 });
  files.replace(temp.at("loose"), "new");
  expect([readFileSync(temp.at("loose"), "utf8"), modeOf(temp.at("loose"))]).toEqual(["new", "600"]);
  symlinkSync(temp.at("loose"), temp.at("link"));
  files.replace(temp.at("link"), "own");
  expect(lstatSync(temp.at("link")).isSymbolicLink()).toBe(false);
  expect(readFileSync(temp.at("loose"), "utf8")).toBe("new");
  expect(readdirSync(temp.path).toSorted()).toEqual(["link", "loose"]);
});

test("[HO7] a replace that fails leaves the old text and nothing beside it", () => {
  using temp = createTempDir();
  files.directory(temp.at("taken"));
  writeFileSync(temp.at("taken", "inside"), "");
  expect(() => files.replace(temp.at("taken"), "text")).toThrow();
  expect(readdirSync(temp.path)).toEqual(["taken"]);
});

test("[SC2] createOnce writes the first text, and every later one reads it", () => {
  using temp = createTempDir();
  expect(files.createOnce(temp.at("once"), "first")).toBe("first");
  expect(files.createOnce(temp.at("once"), "second")).toBe("first");
  expect(modeOf(temp.at("once"))).toBe("600");
  expect(readdirSync(temp.path)).toEqual(["once"]);
});

test("[SC3] what is not there is undefined, nothing and no names, and removing it is nothing", () => {
  using temp = createTempDir();
  expect(files.readPrivate(temp.at("none"))).toBeUndefined();
  expect(files.list(temp.at("none"))).toEqual([]);
  files.remove(temp.at("none"));
  files.replace(temp.at("some"), "");
  expect(files.list(temp.path)).toEqual(["some"]);
});

import { expect, test } from "bun:test";
import { FAULTS, Fault } from "../../src/protocol/fault.ts";
import { EXIT_CODES, exitCodeOf, exitCodesHelp } from "../../src/surface/exit-codes.ts";
import { helpFor } from "../../src/surface/help.ts";
import { wrap } from "../../src/surface/layout.ts";
import { overview } from "../../src/surface/overview.ts";
import { sample } from "./sample.ts";

const help = helpFor(sample, "Send a prompt and stream the answer");
const lineWith = (text: string, part: string) => text.split("\n").find((line) => line.includes(part)) ?? "";
const columnOf = (text: string, part: string) => lineWith(text, part).indexOf(part);

test("help says how the command is used, with its positionals in order", () => {
  expect(help).toStartWith("holdfast prompt: Send a prompt and stream the answer\n");
  expect(help).toContain("\nUsage: holdfast prompt AGENT [TEXT] [FLAGS]\n");
});

test("help shows every argument as it is typed, with its description", () => {
  for (const typed of [
    "-s, --session SESSION",
    "--plugin-token[=TOKEN]",
    "--permissions ask|allow|deny",
    "--timeout DURATION",
    "--count N",
    "-w, --watch",
    "--no-links",
    "--no-start",
    "--header HEADER",
    "--format text|json",
    "-p, --port N",
    "--json",
    "-h, --help",
  ])
    expect(help).toContain(typed);
  for (const { description } of Object.values(sample.args)) expect(help).toContain(description);
});

test("help shows defaults as they would be typed", () => {
  expect(lineWith(help, "--permissions")).toEndWith("(default: ask)");
  expect(lineWith(help, "--timeout")).toEndWith("(default: 10s)");
  expect(lineWith(help, "--header")).toEndWith("(repeatable)");
  expect(lineWith(help, "--port")).toContain("HOLDFAST_PORT, else 38741");
});

test("help is aligned, and its examples are last", () => {
  const columns = ["Which agent", "The session to go on with", "How results are written", "Short for"].map((part) =>
    columnOf(help, part),
  );
  expect(new Set(columns).size).toBe(1);
  expect(columns[0]).toBeGreaterThan(10);
  expect(help).toEndWith('Examples:\n  holdfast prompt demo "hello"\n      Asks the demo agent\n');
});

test("no help is wider than 100 columns, and no word is lost", () => {
  const long = "word ".repeat(60).trim();
  const wide = helpFor({ ...sample, details: long }, long);
  const table = overview({ prompt: { summary: long, load: undefined } });
  for (const text of [wide, table, exitCodesHelp()])
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(table.match(/\bword\b/g)).toHaveLength(60);
  expect(wide.match(/\bword\b/g)).toHaveLength(120);
});

test("a word longer than the line stands alone", () => {
  expect(wrap("a abcdefghij b", 5)).toEqual(["a", "abcdefghij", "b"]);
});

test("the overview lists commands in their groups and leaves hidden ones out", () => {
  const text = overview({
    serve: { summary: "Host in the foreground", load: undefined, group: "Host" },
    prompt: { summary: "Send a prompt", load: undefined, group: "Agents" },
    stop: { summary: "End the host", load: undefined, group: "Host" },
    keeper: { summary: "Inside only", load: undefined, hidden: true },
  });
  expect(text).toMatch(/Host:\n {2}serve +Host in the foreground\n {2}stop +End the host\n\nAgents:\n {2}prompt +Send/);
  expect(text).not.toContain("keeper");
  expect(columnOf(text, "Host in")).toBe(columnOf(text, "Send a"));
});

test("[CM3] the exit codes are told, and every fault exits with one of them", () => {
  const text = exitCodesHelp();
  for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]) expect(text).toMatch(new RegExp(`^ +${code}  [A-Z]`, "m"));
  for (const { exit } of Object.values(FAULTS)) expect(Object.keys(EXIT_CODES)).toContain(String(exit));
});

test("[CM3] what was thrown gives the exit code", () => {
  expect(exitCodeOf(new Fault("TIMEOUT", "Late"))).toBe(6);
  expect(exitCodeOf(new TypeError("A bug"))).toBe(1);
});

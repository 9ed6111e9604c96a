// Is what could come next on a line what the command takes there?
import { expect, test } from "bun:test";
import { choice, list, text, toggle } from "../../src/surface/argument.ts";
import { command } from "../../src/surface/command.ts";
import { readLine, whatFits } from "../../src/surface/complete.ts";

const spec = command()({
  name: "send",
  args: {
    agent: text("Which agent", { completes: "agent" }),
    how: choice("How", ["fast", "slow"], { optional: true }),
    session: text("The session", { optional: true, completes: "agent-session" }),
    policy: choice("What it may do", ["ask", "allow", "deny"], { optional: true }),
    level: list("Levels", ["Info", "Error"]),
    links: toggle("Follow links", { default: true }),
    watch: toggle("Go on"),
  },
  positionals: ["agent", "how"],
  short: { s: "session" },
  examples: [],
  run: async () => 0,
});

const values = (...words: string[]): string[] => {
  const fits = whatFits(spec, words);
  return fits.kind === "candidates" ? fits.list.map(({ value }) => value) : [`<${fits.before}${fits.of}>`];
};

test("a positional is completed by what it names, the next one by its choices, and then only flags are left", () => {
  expect(values("")).toEqual(["<agent>"]);
  expect(values("demo", "")).toEqual(["fast", "slow"]);
  expect(values("demo", "s")).toEqual(["slow"]);
  expect(values("demo", "fast", "")).toContain("--watch");
  expect(values("demo", "fast", "more")).toEqual([]);
});

test("flags are offered as they are typed, with what they say, and once unless they repeat", () => {
  expect(values("--")).toEqual(
    expect.arrayContaining(["--session", "--policy", "--level", "--no-links", "--watch", "--json", "--port", "--help"]),
  );
  expect(values("--")).not.toContain("--links");
  expect(values("--wa")).toEqual(["--watch"]);
  expect(values("--watch", "--level", "Info", "--")).not.toContain("--watch");
  expect(values("--watch", "--level", "Info", "--")).toContain("--level");
  expect(values("-s", "work", "--s")).toEqual([]);
  expect(values("--json", "--f")).toEqual([]);
  const fits = whatFits(spec, ["--wat"]);
  expect(fits).toEqual({ kind: "candidates", list: [{ value: "--watch", says: "Go on" }] });
});

test("behind a flag stands its value, by its long name, its letter or an equals sign", () => {
  expect(values("--policy", "a")).toEqual(["ask", "allow"]);
  expect(values("--policy=a")).toEqual(["--policy=ask", "--policy=allow"]);
  expect(values("-s", "")).toEqual(["<agent-session>"]);
  expect(values("--session=wo")).toEqual(["<--session=agent-session>"]);
  expect(values("--level", "Info", "--level", "")).toEqual(["Info", "Error"]);
  expect(values("--unknown=")).toEqual([]);
});

test("a flag's value is no positional, and a switch takes none", () => {
  expect(values("--policy", "ask", "")).toEqual(["<agent>"]);
  expect(values("--watch", "demo", "")).toEqual(["fast", "slow"]);
  expect(values("--policy=ask", "demo", "")).toEqual(["fast", "slow"]);
});

test("bash parts words at the equals sign, and wants only what comes behind it", () => {
  expect(values("--policy", "=", "a")).toEqual(["ask", "allow"]);
  expect(values("--policy", "=")).toEqual(["ask", "allow", "deny"]);
  expect(values("--policy", "=", "ask", "")).toEqual(["<agent>"]);
  expect(readLine(["exec", "a", "=", "b"])).toEqual({ earlier: ["exec", "a", "="], current: "b", split: false });
});

test("behind -- there are no flags any more", () => {
  expect(values("--", "")).toEqual(["<agent>"]);
  expect(values("--", "demo", "fast", "")).toEqual([]);
});

test("the port that was typed is the port that is asked", () => {
  expect(whatFits(spec, ["--port", "5000", "-s", "w"])).toMatchObject({
    of: "agent-session",
    typed: "w",
    port: "5000",
  });
  expect(whatFits(spec, ["-s", "w"])).toMatchObject({ port: undefined });
});

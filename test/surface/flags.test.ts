import { describe, expect, test } from "bun:test";
import { Fault } from "../../src/protocol/fault.ts";
import { DEFAULT_PORT } from "../../src/protocol/version.ts";
import { list, text, whole } from "../../src/surface/argument.ts";
import { command, sharedArgs } from "../../src/surface/command.ts";
import { parseArgs, wantsHelp } from "../../src/surface/flags.ts";
import { sample } from "./sample.ts";

const read = (...words: string[]) => parseArgs(sample, ["demo", ...words]);

function refused(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("Nothing was refused");
}
const refusal = (...words: string[]) => refused(() => read(...words));

describe("what words ask for", () => {
  test("a line with nothing but its positional gets every default", () => {
    expect(parseArgs(sample, ["demo"])).toEqual({
      agent: "demo",
      permissions: "ask",
      timeout: 10_000,
      noStart: false,
      watch: false,
      links: true,
      header: [],
      level: [],
      format: "text",
      port: DEFAULT_PORT,
    });
  });

  test("a value stands after its flag, after =, or after a letter", () => {
    expect(read("--session", "blue").session).toBe("blue");
    expect(read("--session=blue").session).toBe("blue");
    expect(read("-s", "blue").session).toBe("blue");
    expect(read("--session=a=b").session).toBe("a=b");
    expect(read("-p", "5").port).toBe(5);
  });

  test("flags and positionals may be mixed, and -- ends the flags", () => {
    expect(parseArgs(sample, ["--watch", "demo", "-s", "blue", "hello"])).toMatchObject({
      agent: "demo",
      text: "hello",
      session: "blue",
      watch: true,
    });
    expect(read("--", "--watch")).toMatchObject({ text: "--watch", watch: false });
  });

  test("a dash alone is a positional and a value, since it stands for stdin", () => {
    expect(read("-").text).toBe("-");
    expect(parseArgs(sample, ["demo", "--header", "-"]).header).toEqual(["-"]);
  });

  test("switches are turned off with --no-, and a switch named noStart is --no-start", () => {
    expect(read("--no-links").links).toBe(false);
    expect(read("--links").links).toBe(true);
    expect(read("--no-start").noStart).toBe(true);
    expect(refusal("--no-no-start").message).toContain('Unknown flag "--no-no-start"');
  });

  test("a repeatable flag collects, any other is refused the second time", () => {
    expect(read("--header", "a", "--header=b").header).toEqual(["a", "b"]);
    expect(refusal("--session", "blue", "-s", "red").message).toBe(
      "Flag --session is given twice, once as -s; give it once",
    );
    expect(refusal("--json", "--format", "text").message).toBe("Flag --format is given twice; give it once");
  });

  test("a last positional that is a list takes the rest", () => {
    const many = command()({
      name: "close",
      args: { first: text("One"), rest: list("More") },
      positionals: ["first", "rest"],
      examples: [],
      run: async () => 0,
    });
    expect(parseArgs(many, ["a", "b", "--json", "c"])).toMatchObject({ first: "a", rest: ["b", "c"], format: "json" });
  });

  test.each([
    ["500ms", 500],
    ["10s", 10_000],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["7", 7000],
    ["0", 0],
  ])("the duration %s is %d milliseconds", (text, ms) => {
    expect(read("--timeout", text).timeout).toBe(ms);
  });

  test("a flag with an optional value never takes the next word", () => {
    expect(read("--plugin-token", "hello")).toMatchObject({ pluginToken: true, text: "hello" });
    expect(read("--plugin-token=secret").pluginToken).toBe("secret");
    expect(refusal("--plugin-token=").message).toBe(
      'Flag --plugin-token got ""; give a value after =, or the flag alone',
    );
  });

  test("a number may be negative, and a text that begins with a dash needs =", () => {
    expect(read("--ratio", "-0.5").ratio).toBe(-0.5);
    expect(read("--session=--x").session).toBe("--x");
    expect(refusal("--session", "--watch").message).toContain("Flag --session has no value");
    expect(refusal("--session", "--watch").message).toContain("--session=VALUE");
  });

  test("help is seen anywhere before --", () => {
    expect(wantsHelp(["demo", "--help"])).toBe(true);
    expect(wantsHelp(["-h"])).toBe(true);
    expect(wantsHelp(["--", "--help"])).toBe(false);
  });
});

describe("shared flags", () => {
  test("[CM1] --json is short for --format json, on a command that declares neither", () => {
    expect(read("--json").format).toBe("json");
    expect(read("--format", "json").format).toBe("json");
    expect(read().format).toBe("text");
  });

  test("the port comes from the flag, else HOLDFAST_PORT, else the default", () => {
    const env = { HOLDFAST_PORT: "4000" };
    expect(parseArgs(sample, ["demo", "--port", "5000"], env).port).toBe(5000);
    expect(parseArgs(sample, ["demo"], env).port).toBe(4000);
    expect(parseArgs(sample, ["demo"], { HOLDFAST_PORT: "" }).port).toBe(DEFAULT_PORT);
  });

  test("a command that spreads the shared arguments gets the same", () => {
    const serve = command()({ name: "serve", args: { ...sharedArgs }, examples: [], run: async () => 0 });
    expect(parseArgs(serve, ["--json"], { HOLDFAST_PORT: "4000" })).toEqual({ format: "json", port: 4000 });
  });

  test("a command with a port of its own is not touched by the environment", () => {
    const own = command()({
      name: "own",
      args: { port: whole("Another port", { default: 9 }) },
      examples: [],
      run: async () => 0,
    });
    expect(parseArgs(own, [], { HOLDFAST_PORT: "4000" }).port).toBe(9);
  });

  test.each(["http", "70000", "-1", "1.5", "0x10"])("[CM4] HOLDFAST_PORT=%s is refused by its name", (value) => {
    const fault = refused(() => parseArgs(sample, ["demo"], { HOLDFAST_PORT: value }));
    expect(fault.code).toBe("USAGE");
    expect(fault.message).toBe(`HOLDFAST_PORT in the environment is "${value}"; give a whole number from 0 to 65535`);
    expect(parseArgs(sample, ["demo", "--port", "1"], { HOLDFAST_PORT: value }).port).toBe(1);
  });
});

describe("what is refused", () => {
  test("[CM3] bad input is a USAGE fault, which exits with 2", () => {
    expect(refusal("--port", "x").code).toBe("USAGE");
    expect(refusal("--port", "x").exitCode).toBe(2);
    expect(refusal("--port", "x").data).toEqual({ command: "prompt", argument: "--port", value: "x" });
  });

  test("[CM4] an unknown flag suggests the nearest", () => {
    expect(refusal("--sesion", "x").message).toBe('Unknown flag "--sesion" for "prompt"; did you mean "--session"?');
    expect(refusal("-port", "1").message).toContain('did you mean "--port"?');
    expect(refusal("--no-strat").message).toContain('did you mean "--no-start"?');
    expect(refusal("--jsno").message).toContain('did you mean "--json"?');
  });

  test("[CM4] an unknown flag with nothing near says where to look", () => {
    expect(refusal("--constructor").message).toBe(
      'Unknown flag "--constructor" for "prompt"; see "holdfast help prompt"',
    );
    expect(refusal("-sblue").message).toContain('Unknown flag "-sblue"');
  });

  test("[CM4] a positional written as a flag says how it is given", () => {
    expect(refusal("--agent", "x").message).toContain("give it as a plain word: holdfast prompt AGENT [TEXT]");
  });

  test.each([
    [["--port", "70000"], 'Flag --port got "70000"; give a whole number from 0 to 65535'],
    [["--port", "1.5"], 'Flag --port got "1.5"; give a whole number from 0 to 65535'],
    [["--port="], 'Flag --port got ""; give a whole number from 0 to 65535'],
    [["--count", "0"], 'Flag --count got "0"; give a whole number from 1 up'],
    [["--ratio", "2"], 'Flag --ratio got "2"; give a number from -1 to 1'],
    [["--permissions", "alow"], 'Flag --permissions got "alow"; give one of "ask", "allow", "deny"'],
    [["--level", "info", "--level", "warn"], 'Flag --level got "warn"; give one of "info", "error"'],
    [["--session", "x"], 'Flag --session got "x"; give at least 2 letters'],
    [["--watch=yes"], 'Flag --watch got "yes"; it takes no value, give --watch alone'],
    [["--json=yes"], 'Flag --json got "yes"; it takes no value, give --json alone'],
  ])("[CM4] %j names the argument, the value and what would be right", (words, message) => {
    expect(refusal(...words).message).toBe(message);
  });

  test.each(["soon", "10 s", "-1s", "1d", "", "1000h"])("[CM4] the duration %j is refused", (text) => {
    expect(refusal(`--timeout=${text}`).message).toStartWith(
      `Flag --timeout got "${text}"; give a duration such as "500ms"`,
    );
  });

  test("[CM4] missing arguments are named with what they are", () => {
    expect(refused(() => parseArgs(sample, [])).message).toBe(
      "Missing AGENT (Which agent, by name); usage: holdfast prompt AGENT [TEXT] [FLAGS]",
    );
  });

  test("[CM4] one argument too many is named", () => {
    expect(refusal("hello", "world").message).toStartWith('Unexpected argument "world"; text with spaces needs quotes');
  });
});

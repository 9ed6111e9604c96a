// Which exit code does each kind of failure have, and how is bad input refused?
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Ran, staged } from "./support.ts";
import { until } from "./until.ts";

const last = ({ stderr }: Ran): string => stderr.trimEnd().split("\n").at(-1) ?? "";

test(
  "[CM3] 0, 1, 2, 3, 4, 5, 6, 7 and 130 each come from a real failure of their kind, and help exit-codes lists them",
  staged(async (stage) => {
    const codes = new Set<number | null>();
    const run = async (words: readonly string[], code: number, says: RegExp): Promise<void> => {
      const ran = await stage.run(words);
      expect({ words, code: ran.code, says: says.test(ran.stderr) || ran.stderr }).toEqual({ words, code, says: true });
      codes.add(ran.code);
    };
    await run(["status"], 4, /No holdfast host answers/);
    const host = await stage.serve();
    await run(["exec", "1", "--timeout", "300ms"], 3, /No plugin is connected; start one with: holdfast plugin js/);
    const one = await stage.plugin("one");
    await run(["exec", "6 * 7"], 0, /^$/);
    await run(["exec", "throw new Error('my mistake')"], 1, /error: Error: my mistake/);
    await run(["exec", "1 +"], 1, /SyntaxError/);
    await run(["exec"], 2, /Missing CODE/);
    await run(["run", join(stage.directory, "missing.js")], 2, /cannot be read/);
    await run(["state", "--session", "nobody", "--timeout", "200ms"], 3, /There is no session "nobody"/);
    await run(["state", "--context", "server", "--timeout", "200ms"], 3, /has no context "server", it has: edit/);
    await stage.plugin("two");
    await run(["state"], 3, /2 instances are connected; choose one with --session[\s\S]*one[\s\S]*two/);
    await run(
      ["exec", "await Bun.sleep(2_000)", "--instance", "two", "--timeout", "400ms"],
      6,
      /raise it with --timeout/,
    );
    one.kill("SIGSTOP");
    await run(["state", "--instance", "one", "--timeout", "400ms"], 6, /did not answer "queryState"/);
    one.kill("SIGCONT");
    await run(["sessions"], 0, /^$/);

    const mark = join(stage.directory, "begun");
    const script = `await Bun.write("${mark}", ""); await Bun.sleep(60_000)`;
    const lost = stage.run(["exec", script, "--instance", "one"]);
    const interrupted = stage.spawn(["exec", "await Bun.sleep(60_000)", "--instance", "two"]);
    await until("the script's begin", () => existsSync(mark));
    await host.event("client-connected", ({ pid }) => pid === interrupted.pid);
    codes.add((await interrupted.end("SIGINT")).code);
    await one.end("SIGKILL");
    codes.add((await lost).code);
    expect((await lost).stderr).toContain("plugin went away");
    expect((await stage.shell(`chmod 644 ${stage.state}/token`)).code).toBe(0);
    await run(["sessions"], 7, /open to others/);
    expect((await stage.shell(`chmod 600 ${stage.state}/token`)).code).toBe(0);

    expect([...codes].sort((left, right) => Number(left) - Number(right))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 130]);
    const { stdout } = await stage.run(["help", "exit-codes"]);
    for (const code of codes) expect(stdout).toMatch(new RegExp(`^ +${code}  `, "m"));
  }),
  60_000,
);

test(
  "[CM4] [CM3] unknown commands and flags suggest the nearest, bad values are told with what would be right, all with 2",
  staged(async (stage) => {
    const cases: [string[], string][] = [
      [["exce", "1"], 'There is no command "exce"; did you mean "exec"?'],
      [["stauts"], 'did you mean "status"?'],
      [["zzz"], "holdfast help lists them"],
      [["--port", "1"], "The first word must be a command"],
      [["exec", "1", "--tiemout", "3s"], 'Unknown flag "--tiemout" for "exec"; did you mean "--timeout"?'],
      [["serve", "--stanby"], 'did you mean "--standby"?'],
      [["exec", "1", "--timeout", "soon"], 'Flag --timeout got "soon"; give a duration such as'],
      [["exec", "1", "--timeout"], "Flag --timeout has no value"],
      [["sessions", "--port", "99999"], 'Flag --port got "99999"; give a whole number from 0 to 65535'],
      [["sessions", "--format", "xml"], 'Flag --format got "xml"; give one of "text", "json"'],
      [["exec", "one", "two"], 'Unexpected argument "two"; text with spaces needs quotes'],
      [["serve", "--auth", "maybe"], '--auth got "maybe"'],
      [["serve", "--plugin-token=short"], "too short"],
      [["query", "a", "--depth", "99"], "give a whole number from 0 to 8"],
      [["logs", "--level", "Loud"], 'got "Loud"'],
      [["plugin", "lua"], 'got "lua"'],
      [["help", "exce"], 'did you mean "exec"?'],
    ];
    const ran = await Promise.all(cases.map(([words]) => stage.run(words)));
    for (const [index, [words, says]] of cases.entries()) {
      const { code, stdout, stderr } = ran[index] as Ran;
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: "" });
      expect(stderr).toContain(says);
    }
    const env: [Record<string, string>, string][] = [
      [{ HOLDFAST_PORT: "many" }, 'HOLDFAST_PORT in the environment is "many"'],
      [{ XDG_STATE_HOME: "relative" }, 'XDG_STATE_HOME is "relative"; it must be an absolute path'],
    ];
    for (const [variables, says] of env) {
      const ran = await stage.run(["sessions"], { env: variables });
      expect(ran.code).toBe(2);
      expect(last(ran)).toContain(says);
    }
    const idle = await stage.run(["serve"], { env: { IDLE_TIMEOUT_MS: "soon" } });
    expect(idle.code).toBe(2);
    expect(last(idle)).toContain('IDLE_TIMEOUT_MS in the environment is "soon"');
    expect(stage.processes()).toEqual([]);
  }),
  60_000,
);

test(
  "[CM4] [IF5] --timeout bounds every command that waits: for a session, for an answer, for a host that hangs",
  staged(async (stage) => {
    const host = await stage.serve();
    const asking = [["exec", "1"], ["run", "/dev/null"], ["state"], ["screenshot"], ["query", "a"], ["logs"]].map(
      (words) => [...words, "--timeout", "1s"],
    );
    // Without a limit a host that hangs is given up after 11 s.
    const LIMIT_MS = 10_500;
    const codesOf = async (lines: string[][]): Promise<(number | null)[]> => {
      const ran = await Promise.all(lines.map((words) => stage.run(words)));
      for (const { ms } of ran) expect(ms).toBeLessThan(LIMIT_MS);
      return ran.map(({ code }) => code);
    };
    expect(await codesOf(asking)).toEqual([3, 3, 3, 3, 3, 3]);
    const plugin = await stage.plugin("one");
    plugin.kill("SIGSTOP");
    // A picture is not even asked for: the plugin does not offer it.
    expect(await codesOf(asking)).toEqual([6, 6, 6, 1, 6, 6]);
    host.kill("SIGSTOP");
    const others = [["sessions"], ["status"], ["stop"]].map((words) => [...words, "--timeout", "1s"]);
    expect(await codesOf([...asking, ...others])).toEqual(Array(9).fill(6));
    host.kill("SIGCONT");
    plugin.kill("SIGCONT");
    expect((await stage.run(["exec", "6 * 7"])).stdout).toBe("42\n");
  }),
  60_000,
);

// Do real shells complete? Each one's own machinery is driven, beside a host and without one.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openTerminal } from "./screen.ts";
import { type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

const has = (shell: string): boolean => Bun.which(shell) !== null;

/** What bash would offer: the words as it parts them, the last one being typed. */
async function inBash(stage: Stage, ...words: string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const line = `set -eu; source <(holdfast completions bash); COMP_WORDS=(${quoted}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1));
    _holdfast holdfast || exit 3; for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done`;
  const { code, stdout, stderr } = await stage.shell(line, { cwd: stage.directory });
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean);
}

/** What is live: whoever completes waits for a host only as long as a person does, and then offers nothing. */
const offered = (stage: Stage, ...words: string[]): Promise<string[]> =>
  until(`an offer after ${words.join(" ")}`, async () => {
    const found = await inBash(stage, ...words);
    return found.length > 0 && found;
  });

test(
  "bash completes commands, flags, choices, topics, files, and without a host it is silent and starts none",
  staged(async (stage) => {
    writeFileSync(join(stage.directory, "a script.js"), "");
    expect(await inBash(stage, "holdfast", "ser")).toEqual(["serve"]);
    expect(await inBash(stage, "holdfast", "")).not.toContain("background-host");
    expect(await inBash(stage, "holdfast", "exec", "--inst")).toEqual(["--instance"]);
    expect(await inBash(stage, "holdfast", "serve", "--auth", "")).toEqual(["token", "none"]);
    expect(await inBash(stage, "holdfast", "serve", "--auth", "=", "n")).toEqual(["none"]);
    expect(await inBash(stage, "holdfast", "serve", "--auth", "=")).toEqual(["token", "none"]);
    expect(await inBash(stage, "holdfast", "completions", "z")).toEqual(["zsh"]);
    expect(await inBash(stage, "holdfast", "help", "fail")).toEqual(["failover"]);
    expect(await inBash(stage, "holdfast", "run", "a")).toEqual(["a script.js"]);
    expect(await inBash(stage, "holdfast", "prompt", "de")).toEqual(["demo"]);
    expect(await inBash(stage, "holdfast", "attach", "")).toEqual([]);
    expect(await inBash(stage, "holdfast", "nonsense", "")).toEqual([]);
    expect(stage.processes()).toEqual([]);
  }),
  60_000,
);

test(
  "[SC7] names of sessions, instances and configured agents are live, and one that could do harm is not offered",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    await stage.plugin("$(touch x)");
    await stage.run(["prompt", "demo", "hello", "--session", "work"]);
    await stage.run(["prompt", "demo", "hello"]);
    // Not the one that was closed with its only prompt.
    expect(await offered(stage, "holdfast", "attach", "")).toEqual(["work"]);
    expect(await offered(stage, "holdfast", "prompt", "demo", "hi", "-s", "w")).toEqual(["work"]);
    expect(await offered(stage, "holdfast", "exec", "1", "--instance", "")).toEqual(["one"]);
    const ids = await offered(stage, "holdfast", "exec", "1", "--session", "");
    expect(ids).toHaveLength(2);
    expect((await stage.run(["exec", "6 * 7", "--session", ids[0] as string])).stdout).toBe("42\n");
    const file = join(stage.directory, "home", ".config", "holdfast");
    await stage.shell(`mkdir -p ${file}; echo '{"agents":{"my-own":{"command":"m"}}}' > ${file}/config.json`);
    expect(await inBash(stage, "holdfast", "login", "my")).toEqual(["my-own"]);
    // Another port has no host: nothing is offered there.
    expect(await inBash(stage, "holdfast", "attach", "--port", "1", "")).toEqual([]);
    await stage.run(["close", "work"]);
    expect(await inBash(stage, "holdfast", "attach", "")).toEqual([]);
    await stage.run(["stop", "--agents"]);
  }),
  60_000,
);

test.skipIf(!has("fish"))(
  "fish completes, with what each is",
  staged(async (stage) => {
    writeFileSync(join(stage.directory, "script.js"), "");
    const ask = async (line: string) => {
      const asked = `holdfast completions fish | source; complete -C "${line}"`;
      const { code, stdout } = await stage.shell(`fish --no-config -c '${asked}'`, { cwd: stage.directory });
      return { code, lines: stdout.split("\n").filter(Boolean) };
    };
    expect(await ask("holdfast ser")).toEqual({ code: 0, lines: [expect.stringMatching(/^serve\tHost in the/)] });
    expect((await ask("holdfast serve --auth=")).lines).toEqual(["--auth=none", "--auth=token"]);
    expect((await ask("holdfast run scr")).lines[0]).toStartWith("script.js");
    expect((await ask("holdfast run --config=scr")).lines[0]).toStartWith("--config=script.js");
    expect((await ask("holdfast attach ")).lines).toEqual([]);
    await stage.run(["prompt", "demo", "hello", "--session", "work"]);
    expect((await ask("holdfast attach ")).lines).toEqual(["work\tdemo, idle"]);
    await stage.run(["stop", "--agents"]);
  }),
  60_000,
);

test.skipIf(!has("zsh"))(
  "zsh completes on its own line editor",
  staged(async (stage) => {
    const env = { ...stage.env, PS1: "> ", ZDOTDIR: stage.directory };
    const screen = openTerminal(["zsh", "-f"], env);
    stage.defer(screen.close);
    screen.type("autoload -U compinit; compinit -u -D; source <(holdfast completions zsh); echo READ''Y\n");
    await screen.says(/READY/);
    // The rest of each word is only there when zsh has written it; in front of the space it may set a colour.
    screen.type("holdfast prom\t");
    await screen.says(/holdfast prompt/);
    screen.type("de\t");
    await screen.says(/demo/);
    screen.type("--perm\t");
    await screen.says(/--permissions/);
    screen.type("allow-\t");
    await screen.says(/allow-reads/);
    await stage.run(["prompt", "demo", "hello", "--session", "my-work"]);
    screen.type("\x15holdfast attach my\t");
    await screen.says(/my-work/);
    screen.type("\x15exit\n");
    await screen.exited;
    await stage.run(["stop", "--agents"]);
  }),
  60_000,
);

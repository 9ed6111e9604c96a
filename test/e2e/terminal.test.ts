// How does the binary behave in front of a person?
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

const COLOR = /\x1b\[\d+m/;
/** A title, a click, a clear screen, a bell, a paste: what an output could do to a terminal. */
const EVIL = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x07\x9b2Jend\x1b]8;;http://x\x1b\\link";
const SCRIPT = `console.log(${JSON.stringify(EVIL)}); console.error(${JSON.stringify(EVIL)}); ${JSON.stringify(EVIL)}`;
/** Colours and the status line are ours; everything else would be theirs. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
const withoutOurs = (text: string): string => text.replaceAll(/\x1b\[(?:0|1|2|31|32|33|36)m|\r\x1b\[K/g, "");

async function shown(stage: Stage, words: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const screen = stage.onTerminal(words, { env });
  await screen.exited;
  await until("the last of the output", () => screen.output.endsWith("\n"));
  return screen.output;
}

test(
  "[CM1] on a terminal there are colours, unless NO_COLOR is set or the terminal is dumb; in JSON never",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    expect(await shown(stage, ["status"])).toMatch(COLOR);
    expect(await shown(stage, ["sessions"])).toMatch(COLOR);
    expect(await shown(stage, ["nonsense"])).toMatch(COLOR);
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      for (const words of [["status"], ["sessions"], ["nonsense"]]) {
        expect(await shown(stage, words, env as unknown as Record<string, string>)).not.toContain("\x1b");
      }
    }
    const json = await shown(stage, ["sessions", "--json"]);
    expect(json).not.toContain("\x1b");
    expect(JSON.parse(json)).toBeArrayOfSize(1);
  }),
  60_000,
);

test(
  "[CM1] on a terminal what takes longer than a second shows a status line with its time, and leaves no trace of it",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    const screen = stage.onTerminal(["exec", "await Bun.sleep(2_300); return 'done'"]);
    await screen.says(/Running in JavaScript \(1 s\)/);
    await screen.says(/Running in JavaScript \(2 s\)/);
    expect(await screen.exited).toEqual({ code: 0, signal: null });
    await screen.says(/\r\x1b\[Kdone\r\n$/);
    expect(await shown(stage, ["exec", "'quick'"])).toBe("quick\r\n");
  }),
  60_000,
);

test(
  "[SC7] what a plugin says is stripped of control sequences before it reaches a terminal, and left alone in a pipe",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one", "--name", `name${EVIL}`);
    const lines = [
      ["exec", SCRIPT],
      ["exec", `throw new Error(${JSON.stringify(EVIL)})`],
      ["exec", `globalThis.evil = { ${JSON.stringify(EVIL)}: ${JSON.stringify(EVIL)} }; 0`],
      ["query", "evil", "--depth", "1"],
      ["logs"],
      ["state"],
      ["sessions"],
      ["status"],
      ["exec", SCRIPT, "--json"],
      ["logs", "--json"],
    ];
    for (const words of lines) {
      const output = await shown(stage, words);
      expect({ words, controls: withoutOurs(output).match(CONTROLS)?.[0] }).toEqual({ words, controls: undefined });
    }
    const output = await shown(stage, ["exec", SCRIPT]);
    expect(output.split("\r\n").filter((line) => line.includes("redendlink"))).toHaveLength(3);

    const piped = await stage.run(["exec", SCRIPT]);
    expect(piped.stdout).toBe(`${EVIL}\n${EVIL}\n`);
    expect(piped.stderr).toBe(`${EVIL}\n`);
    expect(JSON.parse((await stage.run(["exec", SCRIPT, "--json"])).stdout).value).toBe(EVIL);
  }),
  60_000,
);

test(
  "[CM5] [CM3] Ctrl-C at the terminal ends an exec with 130; the plugin lives on",
  staged(async (stage) => {
    await stage.serve();
    const plugin = await stage.plugin("one", "--deadline", "3s");
    const mark = join(stage.directory, "begun");
    const screen = stage.onTerminal(["exec", `await Bun.write("${mark}", ""); await Bun.sleep(600_000)`]);
    await until("the script's begin", () => existsSync(mark));
    screen.type("\x03");
    expect(await screen.exited).toEqual({ code: 130, signal: null });
    expect(await stage.run(["exec", "6 * 7"])).toMatchObject({ code: 0, stdout: "42\n" });
    expect(plugin.running).toBe(true);
  }),
  60_000,
);

test(
  "[CM5] [SD1] a closed terminal ends like Ctrl-C: an exec with 130, a host in good order and a plugin too",
  staged(async (stage) => {
    const host = stage.onTerminal(["serve"]);
    await host.says(/Host on 127\.0\.0\.1/);
    const standby = await stage.standby();
    const plugin = stage.onTerminal(["plugin", "js", "--deadline", "3s"]);
    await plugin.says(/Connected as session/);
    const mark = join(stage.directory, "begun");
    const exec = stage.onTerminal(["exec", `await Bun.write("${mark}", ""); await Bun.sleep(600_000)`]);
    await until("the script's begin", () => existsSync(mark));
    const follow = stage.onTerminal(["logs", "--follow"]);
    await until("one more in line", async () => {
      const { stdout } = await stage.run(["status", "--json"]);
      return JSON.parse(stdout).clients.some(({ pid }: { pid: number }) => pid === follow.pid);
    });
    for (const screen of [exec, follow]) {
      screen.close();
      expect(await screen.exited).toEqual({ code: 130, signal: null });
    }
    host.close();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    // Graceful: the one in line had no need to wait for anything.
    await standby.event("role-changed", ({ role }) => role === "host");
    await standby.event("plugin-connected");
    plugin.close();
    expect(await plugin.exited).toEqual({ code: 0, signal: null });
    await standby.event("plugin-disconnected");
  }),
  60_000,
);

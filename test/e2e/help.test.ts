// Is what the help says true? Every example is pasted into a shell, beside a live host and a plugin.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY } from "../support/binary.ts";
import { type Stage, staged } from "./support.ts";

/** The commands of the bridge; agents have tests of their own. */
const GROUPS = ["The bridge", "Plugin sessions", "About"];

const textOf = (...words: string[]): string => {
  const { exitCode, stdout } = Bun.spawnSync([BINARY, ...words]);
  expect({ words, exitCode }).toEqual({ words, exitCode: 0 });
  return stdout.toString();
};

function commandsOf(overview: string): string[] {
  const sections = overview.split("\n\n").map((section) => section.split("\n"));
  const ours = sections.filter(([title]) => GROUPS.includes(title?.replace(/:$/, "") ?? ""));
  return ours.flatMap(([, ...rows]) => rows.flatMap((row) => /^ {2}([a-z-]+) /.exec(row)?.[1] ?? []));
}

const COMMANDS = commandsOf(textOf("help"));
const examplesOf = (command: string): string[] => {
  const [, examples = ""] = textOf("help", command).split("\nExamples:\n");
  return examples.split("\n").flatMap((line) => /^ {2}(\S.*)$/.exec(line)?.[1] ?? []);
};

/** What stays until it is told to go: what it says, with which code it goes, and whether a host must be absent. */
const STAYING: Record<string, { says: RegExp; code: number; alone?: boolean }> = {
  "holdfast serve": { says: /Host on 127\.0\.0\.1:\d+ \(pid \d+\)/, code: 0, alone: true },
  "holdfast serve --standby": { says: /In line for port \d+ behind host \d+/, code: 0 },
  "holdfast serve --port 0 --json": { says: /"type":"started","data":\{"port":\d+,"pid":\d+,"role":"host"\}/, code: 0 },
  "holdfast logs --follow --json": { says: /"type":"log".*"body":"42"/, code: 130 },
  "holdfast plugin js": { says: /Connected as session/, code: 0 },
  "holdfast plugin js --instance build-box --context server": { says: /JavaScript plugin build-box/, code: 0 },
};

/** What comes to an end: its output. Others must at least succeed and say something. */
const ENDING: Record<string, RegExp> = {
  "holdfast exec '1 + 1'": /^2\n$/,
  "echo 'console.log(6 * 7)' | holdfast exec -": /^42\n$/,
  "holdfast exec 'Object.keys(globalThis).length' --format json": /^\{"success":true,"output":\[\],"value":\d+,/,
  "holdfast run ./script.js": /^ran\n$/,
  "holdfast sessions": /^SESSION .*\n.* one +/,
  "holdfast sessions --format json": /^\[\{"kind":"plugin",/,
  "holdfast status": /^Host \d+ on port \d+/,
  "holdfast status --json": /^\{"port":\d+,/,
  "holdfast state": /^state: Edit\n/,
  "holdfast query globalThis --depth 1": /^globalThis \(/,
  "holdfast logs": /Print +42$/m,
  "holdfast version": /^holdfast \d+\.\d+\.\d+\n$/,
  "holdfast help exit-codes": /130 +Interrupted/,
  "holdfast help exec": /^holdfast exec: /,
  "holdfast help config": /MAX_IDLE_MS +1800000 \(30 m\)/,
  "holdfast help failover": /first in line binds the port/,
  "holdfast doctor": /^ok +version +holdfast/,
  "holdfast doctor --json": /^\[\{"area":"version","level":"ok",/,
  "holdfast doctor --fix": /^ok +version +holdfast/,
  "MAX_IDLE_MS=0 holdfast config --json": /"name":"MAX_IDLE_MS","value":0,"source":"environment"/,
  "holdfast config --schema": /"additionalProperties": false/,
  "source <(holdfast completions bash)": /^$/,
  "holdfast completions zsh": /^#compdef holdfast\n/,
  "holdfast completions fish": /complete -c holdfast/,
  "holdfast stop": /^Host \d+ stopped/,
};

const OWN_STAGE = [
  "holdfast stop",
  "holdfast stop --agents",
  "holdfast demo",
  "holdfast serve",
  "holdfast screenshot --out shot.png",
];

async function paste(stage: Stage, line: string): Promise<void> {
  const cwd = join(stage.directory, "home");
  const stays = STAYING[line];
  if (!stays) {
    const { code, stdout, stderr } = await stage.shell(line, { cwd });
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: expect.any(String) });
    expect(stdout).toMatch(ENDING[line] ?? /\S/);
    return;
  }
  const proc = stage.spawnShell(line, { cwd });
  await proc.outSays(stays.says);
  expect({ line, ...(await proc.end("SIGINT")) }).toEqual({ line, code: stays.code, signal: null });
}

describe("help", () => {
  test("[CM3] [CM4] each topic is a page of 100 columns, an unknown one is told, and exit-codes names them all", () => {
    for (const topic of ["exit-codes", "config", "failover", "security"]) {
      const text = textOf("help", topic);
      expect({ topic, wide: text.split("\n").filter((line) => line.length > 100) }).toEqual({ topic, wide: [] });
      expect(text.length).toBeGreaterThan(400);
    }
    expect(textOf("help", "config")).toBe(textOf("config", "--help"));
    const { exitCode, stderr } = Bun.spawnSync([BINARY, "help", "failovr"], { stderr: "pipe" });
    expect({ exitCode, stderr: stderr.toString() }).toEqual({
      exitCode: 2,
      stderr: 'error: There is no help on "failovr"; did you mean "failover"?\n',
    });
  });

  test("[CM4] there is help on every command, by both ways, with usage, flags and examples", () => {
    expect(COMMANDS).toEqual(expect.arrayContaining(["serve", "status", "stop", "demo", "sessions", "exec", "run"]));
    expect(COMMANDS).toEqual(
      expect.arrayContaining(["state", "screenshot", "query", "logs", "plugin", "help", "version"]),
    );
    for (const command of COMMANDS) {
      const text = textOf("help", command);
      expect(text).toContain(`Usage: holdfast ${command}`);
      expect(text).toContain("--format text|json");
      expect(examplesOf(command).length).toBeGreaterThan(0);
      expect(textOf(command, "--help")).toBe(text);
    }
    expect(textOf("--help")).toBe(textOf("help"));
    expect(textOf()).toBe(textOf("help"));
    expect(textOf("--version")).toBe(textOf("version"));
  }, 60_000);

  test(
    "[CM1] [CM4] every example beside a host and a plugin works when pasted",
    staged(async (stage) => {
      await stage.serve();
      await stage.plugin("one");
      writeFileSync(join(stage.directory, "home", "script.js"), "console.log('ran')");
      const lines = COMMANDS.flatMap(examplesOf).filter((line) => !OWN_STAGE.includes(line));
      expect(lines.length).toBeGreaterThan(15);
      expect(lines).toEqual(
        expect.arrayContaining(Object.keys({ ...STAYING, ...ENDING }).filter((line) => !OWN_STAGE.includes(line))),
      );
      for (const line of lines) await paste(stage, line);
    }),
    120_000,
  );

  test(
    "[HO6] [CM4] the examples of serve, stop and demo work where no host is",
    staged(async (stage) => {
      await paste(stage, "holdfast serve");
      const host = await stage.serve();
      await paste(stage, "holdfast stop");
      expect((await host.exited).code).toBe(0);
      const next = await stage.serve();
      await paste(stage, "holdfast stop --agents");
      expect((await next.exited).code).toBe(0);
      const demo = await stage.shell("holdfast demo");
      expect({ code: demo.code, stderr: demo.stderr }).toEqual({ code: 0, stderr: "" });
      expect(stage.processes()).toEqual([]);
    }),
    120_000,
  );

  test(
    "[PL4] [CM4] the example of screenshot saves what a plugin shows, and the JavaScript plugin says that it shows nothing",
    staged(async (stage) => {
      await stage.serve();
      const cwd = join(stage.directory, "work");
      mkdirSync(cwd);
      const line = "holdfast screenshot --out shot.png";
      expect(examplesOf("screenshot")).toContain(line);
      const plain = await stage.plugin("one");
      const refused = await stage.shell(line, { cwd });
      expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: "" });
      expect(refused.stderr).toContain('does not offer "captureScreenshot"');
      await plain.end("SIGTERM");

      const png = Buffer.from("89504e470d0a1a0a", "hex");
      const socket = new WebSocket(`ws://127.0.0.1:${stage.port}/plugin`);
      stage.defer(() => socket.close());
      const identity = { pluginVersion: "1", instanceId: "camera", placeName: "Camera", state: "Edit" };
      const payload = { ...identity, capabilities: ["captureScreenshot"] };
      const welcomed = Promise.withResolvers<void>();
      socket.onopen = () =>
        socket.send(JSON.stringify({ type: "register", sessionId: "s", protocolVersion: 2, payload }));
      socket.onmessage = ({ data }) => {
        const { type, requestId } = JSON.parse(String(data));
        if (type === "welcome") return welcomed.resolve();
        const picture = { data: png.toString("base64"), format: "png", width: 2, height: 1 };
        socket.send(JSON.stringify({ type: "screenshotResult", sessionId: "s", requestId, payload: picture }));
      };
      await welcomed.promise;
      const saved = await stage.shell(line, { cwd });
      expect({ code: saved.code, stdout: saved.stdout }).toEqual({
        code: 0,
        stdout: "Wrote shot.png (2 × 1, 8 bytes)\n",
      });
      expect(readFileSync(join(cwd, "shot.png"))).toEqual(png);
    }),
    60_000,
  );
});

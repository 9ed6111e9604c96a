// Is what must be private kept private?
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "./leftovers.ts";
import { type Stage, staged } from "./support.ts";

const LOOSE: Record<string, { path(stage: Stage): string; mode: number; words: string[] }> = {
  "the state directory": { path: ({ state }) => state, mode: 0o755, words: ["sessions"] },
  "the token": { path: ({ state }) => join(state, "token"), mode: 0o640, words: ["sessions"] },
  "the folder of settings": { path: ({ state }) => join(state, "ports"), mode: 0o750, words: ["serve"] },
  "the settings of the port": {
    path: ({ state, port }) => join(state, "ports", `${port}.json`),
    mode: 0o604,
    words: ["serve", "--standby"],
  },
};

describe.concurrent("looser modes", () => {
  for (const [what, { path, mode, words }] of Object.entries(LOOSE)) {
    test(
      `[SC3] [CM3] of ${what} are an error with exit code 7 that names the path and the remedy`,
      staged(async (stage) => {
        const host = await stage.serve();
        await host.end("SIGKILL");
        const before = statSync(path(stage)).mode & 0o777;
        chmodSync(path(stage), mode);
        const { code, stdout, stderr } = await stage.run(words);
        expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
        const right = before.toString(8).padStart(4, "0");
        expect(stderr).toContain(`"${path(stage)}" is open to others (mode 0${mode.toString(8)}); run: chmod ${right}`);
        chmodSync(path(stage), before);
        if (words[0] === "sessions") expect((await stage.run(words)).code).toBe(0);
        else await stage.serve(...words.slice(1));
      }),
      60_000,
    );
  }

  test(
    "[SC3] a state directory that is a link is refused, and one that is made is private whatever the umask",
    staged(async (stage) => {
      const elsewhere = join(stage.directory, "elsewhere");
      mkdirSync(elsewhere, { mode: 0o700 });
      mkdirSync(join(stage.directory, "links"));
      symlinkSync(elsewhere, join(stage.directory, "links", "holdfast"));
      const env = { XDG_STATE_HOME: join(stage.directory, "links") };
      const linked = await stage.run(["sessions", "--no-start"], { env });
      expect(linked.code).toBe(7);
      expect(linked.stderr).toContain("is a link or belongs to another user");
      for (const mask of ["000", "077"]) {
        const made = join(stage.directory, `made-${mask}`);
        const line = `umask ${mask}; export XDG_STATE_HOME=${made}; holdfast sessions && holdfast stop`;
        expect((await stage.shell(line)).code).toBe(0);
        const modes = ["holdfast", "holdfast/token", "holdfast/logs"].map((name) => statSync(join(made, name)).mode);
        expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(["700", "600", "700"]);
      }
    }),
    60_000,
  );
});

const everyFile = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test(
  "[SC6] neither the token nor a plugin token is ever in arguments, events, status, errors or logs",
  staged(async (stage) => {
    const secret = "a-plugin-secret-of-some-length";
    const env = { HOLDFAST_PLUGIN_TOKEN: secret };
    const host = stage.spawn(["serve", "--json", "--plugin-token"], { env });
    await host.event("started");
    const standby = stage.spawn(["serve", "--standby", "--json", "--plugin-token=another-secret-of-mine"], { env });
    await standby.event("started");
    const plugin = await stage.plugin("one");
    const told = [
      await stage.run(["status"]),
      await stage.run(["status", "--json"]),
      await stage.run(["sessions", "--json"]),
      await stage.run(["exec", "1", "--session", "missing", "--timeout", "100ms"]),
    ];
    // A plugin with a wrong token is turned away, which is told.
    await fetch(`http://127.0.0.1:${stage.port}/plugin?token=wrong-but-also-secret`, {
      headers: { upgrade: "websocket", connection: "upgrade" },
    }).catch(() => undefined);
    await host.end("SIGKILL");
    await standby.event("role-changed", ({ role }) => role === "host");
    await standby.event("plugin-connected");
    await standby.end("SIGKILL");
    // With nobody left, a background host goes on with the same settings, and logs.
    told.push(await stage.run(["exec", "6 * 7"]), await stage.run(["status"]));
    const token = readFileSync(join(stage.state, "token"), "utf8").trim();
    const spoken = [host, standby, plugin, ...told].map(({ stdout, stderr }) => stdout + stderr).join("\n");
    const lines = stage.processes().map(({ pid }) => commandLine(pid));
    expect(lines).toHaveLength(2);
    const files = everyFile(stage.state).filter((path) => !path.endsWith("/token") && !path.includes("/ports/"));
    expect(files.some((path) => path.includes("/logs/"))).toBe(true);
    const written = files.map((path) => readFileSync(path, "utf8"));
    for (const hidden of [token, secret, "wrong-but-also-secret"]) {
      for (const text of [spoken, ...lines, ...written]) expect(text).not.toContain(hidden);
    }
    // The proof of a secret is as good as the secret: it stays out of everything, too.
    expect(spoken).not.toMatch(/"proof"|"nonce"/);
    expect((await stage.run(["status", "--json"])).stdout).toContain('"pluginToken":true');
  }),
  60_000,
);

test(
  "[SC6] a plugin token made up by serve is told as a place to read it, not as itself",
  staged(async (stage) => {
    const host = await stage.serve("--plugin-token");
    const path = join(stage.state, "ports", `${stage.port}.json`);
    await host.errSays(new RegExp(path.replaceAll(".", "\\.")));
    const { pluginToken } = JSON.parse(readFileSync(path, "utf8"));
    expect(pluginToken).toMatch(/^[0-9a-f]{64}$/);
    expect(host.stdout + host.stderr).not.toContain(pluginToken);
  }),
  60_000,
);

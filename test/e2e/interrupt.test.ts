// How does a command end before its time?
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const TICK = "setInterval(() => console.log('tick ' + (globalThis.n = (globalThis.n ?? 0) + 1)), 10); 0";

test(
  "[CM5] [CM3] SIGINT, SIGTERM and SIGHUP end a waiting command with 130, without a word on stdout",
  staged(async (stage) => {
    const host = await stage.serve();
    await stage.plugin("one", "--deadline", "2s");
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      const mark = join(stage.directory, signal);
      const exec = stage.spawn(["exec", `await Bun.write("${mark}", ""); await Bun.sleep(600_000)`]);
      await until("the script's begin", () => existsSync(mark));
      const missing = stage.spawn(["state", "--instance", "missing"]);
      await host.event("client-connected", ({ pid }) => pid === missing.pid);
      const reading = stage.spawn(["exec", "-"]);
      const watching = stage.spawn(["sessions", "--watch"]);
      await watching.outSays(/connected/);
      for (const proc of [exec, missing, reading, watching]) {
        expect(await proc.end(signal)).toEqual({ code: 130, signal: null });
      }
      for (const proc of [exec, missing, reading]) expect(proc.stdout).toBe("");
    }
    expect(await stage.run(["exec", "6 * 7"])).toMatchObject({ code: 0, stdout: "42\n" });
  }),
  60_000,
);

test(
  "[CM5] a closed pipe ends quietly: logs --follow | head -1, and everything that streams",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    await stage.run(["exec", TICK]);
    for (const flags of ["--follow", "--follow --json"]) {
      const piped = await stage.shell(`holdfast logs ${flags} | head -1; echo "\${PIPESTATUS[@]}"`);
      expect(piped.stderr).toBe("");
      expect(piped.stdout).toMatch(/^.*tick \d+.*\n0 0\n$/);
    }
    const status = await stage.shell('holdfast status --watch | head -1; echo "${PIPESTATUS[@]}"');
    expect(status).toMatchObject({ code: 0, stderr: "" });
    expect(status.stdout).toMatch(/^Host \d+ on port .*\n0 0\n$/);
  }),
  60_000,
);

test(
  "[CM5] [SD1] a host whose output nobody reads any more ends in good order when it next has something to say",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    await host.closeStdout();
    await stage.run(["sessions"]);
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(host.stderr).toBe("");
    await standby.event("role-changed", ({ role }) => role === "host");
  }),
  60_000,
);

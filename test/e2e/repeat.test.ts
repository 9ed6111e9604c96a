// What is asked again by itself when the host is lost, and what never is?
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Proc } from "./process.ts";
import { type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

const IDEMPOTENT = [["state"], ["query", "kept"], ["logs"]];

/** Commands that wait for a plugin which stands still. */
async function hangOn(stage: Stage, lines: readonly string[][]): Promise<Proc[]> {
  const procs = lines.map((words) => stage.spawn([...words, "--json", "--timeout", "90s"]));
  // Said after a second: by then the question is with the plugin.
  await Promise.all(procs.map((proc) => proc.errSays(/Waiting for JavaScript|Running in JavaScript/)));
  return procs;
}

test(
  "[IF1] [IF4] [IF2] state, query and logs are asked again on the next host by themselves, exec and run end with 5 at once",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    const plugin = await stage.plugin("one");
    await stage.run(["exec", "kept = { answer: 42 }; console.log('kept'); 0"]);
    const file = join(stage.directory, "runs");
    const script = `require("fs").appendFileSync("${file}", "x"); 0`;
    plugin.kill("SIGSTOP");
    const asking = await hangOn(stage, IDEMPOTENT);
    const scriptFile = join(stage.directory, "script.js");
    await Bun.write(scriptFile, script);
    const running = await hangOn(stage, [
      ["exec", script],
      ["run", scriptFile],
    ]);

    await host.end("SIGKILL");
    const since = performance.now();
    for (const proc of running) {
      expect(await proc.exited).toEqual({ code: 5, signal: null });
      expect(proc.stdout).toBe("");
      expect(proc.stderr).toContain("it was not sent again");
      expect(proc.stderr).toContain("SESSION_DISCONNECTED");
    }
    // Well before anything could have answered.
    expect(performance.now() - since).toBeLessThan(20_000);
    await standby.event("role-changed", ({ role }) => role === "host");
    await Promise.all(asking.map((proc) => proc.errSays(/The connection was lost; asking again on the next host/)));
    expect(asking.map(({ running: still }) => still)).toEqual([true, true, true]);

    plugin.kill("SIGCONT");
    await standby.event("plugin-connected");
    expect(await Promise.all(asking.map(({ exited }) => exited))).toEqual(Array(3).fill({ code: 0, signal: null }));
    const [state, query, logs] = asking.map(({ stdout }) => JSON.parse(stdout));
    expect(state).toMatchObject({ state: "Edit" });
    expect(query.instance).toMatchObject({ name: "kept", properties: { answer: 42 } });
    expect(logs.entries).toMatchObject([{ body: "kept" }]);
    // What was sent before the kill may have run, once each; it never ran again on the next host.
    expect((await stage.run(["exec", "6 * 7"])).stdout).toBe("42\n");
    const runs = await until("the file", () => readFileSync(file, "utf8"), 2_000).catch(() => "");
    expect(runs.length).toBeLessThanOrEqual(2);
  }),
  120_000,
);

test(
  "[IF1] [IF4] the same when only the plugin is lost: state waits for it to come back, exec ends with 5",
  staged(async (stage) => {
    await stage.serve();
    const first = await stage.plugin("one");
    first.kill("SIGSTOP");
    const [state] = await hangOn(stage, [["state"]]);
    const [exec] = await hangOn(stage, [["exec", "1"]]);
    await first.end("SIGKILL");
    expect(await exec?.exited).toEqual({ code: 5, signal: null });
    await state?.errSays(/asking again/);
    await stage.plugin("one");
    expect(await state?.exited).toEqual({ code: 0, signal: null });
    expect(JSON.parse(state?.stdout ?? "")).toMatchObject({ state: "Edit" });
  }),
  60_000,
);

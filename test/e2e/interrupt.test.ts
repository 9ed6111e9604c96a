// How does a command end before its time?
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { handlesSignals } from "./leftovers.ts";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const TICK = "setInterval(() => console.log('tick ' + (globalThis.n = (globalThis.n ?? 0) + 1)), 10); 0";

test(
  "[CM5] [CM3] SIGINT, SIGTERM and SIGHUP end a waiting command with 130, without a word on stdout",
  staged(async (stage) => {
    const host = await stage.serve();
    const took = new Map<string, number[]>();
    const interrupt = async (signal: NodeJS.Signals): Promise<void> => {
      await stage.plugin(signal, "--deadline", "10s");
      const mark = join(stage.directory, signal);
      const script = `await Bun.write("${mark}", ""); await Bun.sleep(600_000)`;
      const exec = stage.spawn(["exec", script, "--instance", signal]);
      await until("the script's begin", () => existsSync(mark));
      const missing = stage.spawn(["state", "--instance", "missing"]);
      await host.event("client-connected", ({ pid }) => pid === missing.pid);
      const reading = stage.spawn(["exec", "-"]);
      reading.write("half a script");
      await until("its own signals", () => handlesSignals(reading.pid));
      const watching = stage.spawn(["sessions", "--watch"]);
      await watching.outSays(/connected/);
      for (const [name, proc] of Object.entries({ exec, missing, reading, watching })) {
        const since = performance.now();
        expect(await proc.end(signal)).toEqual({ code: 130, signal: null });
        took.set(name, [...(took.get(name) ?? []), performance.now() - since]);
      }
      for (const proc of [exec, missing, reading]) expect(proc.stdout).toBe("");
    };
    await Promise.all((["SIGINT", "SIGTERM", "SIGHUP"] as const).map(interrupt));
    // By itself, and not by the limit that cuts off what hangs on; a busy machine may be slow, but not each time.
    for (const times of took.values()) expect(Math.min(...times)).toBeLessThan(1_900);
    await stage.plugin("one");
    expect(await stage.run(["exec", "6 * 7", "--instance", "one"])).toMatchObject({ code: 0, stdout: "42\n" });
  }),
  60_000,
);

test(
  "[CM5] a closed pipe ends quietly: logs --follow | head -1, in text and in JSON",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    await stage.run(["exec", TICK]);
    for (const flags of ["--follow", "--follow --json"]) {
      const piped = await stage.shell(`holdfast logs ${flags} | head -1; echo "\${PIPESTATUS[@]}"`);
      expect(piped.stderr).toBe("");
      expect(piped.stdout).toMatch(/^.*tick \d+.*\n0 0\n$/);
    }
  }),
  60_000,
);

test(
  "[CM5] [SD1] a host whose output nobody reads any more ends in good order when it next has something to say",
  staged(async (stage) => {
    // A shell reads two lines and closes. A stream that Bun cancels is closed by another thread, some time later: a host
    // that writes before has a reader, and then nothing more to say (measured: with all threads busy it never ended).
    const reader = 'for each in 1 2; do read -r line; echo "$line"; done <out; echo "the reader is gone"';
    const line = `mkfifo out; holdfast serve --json >out & ${reader}; wait $!; echo "code $?"`;
    const host = stage.spawnShell(line, { cwd: stage.directory });
    await host.event("started");
    const standby = await stage.standby();
    await host.outSays(/^the reader is gone$/m);
    expect(host.events.map(({ type }) => type)).toEqual(["started", "client-connected"]);
    await stage.run(["sessions"]);
    await host.outSays(/^code 0$/m);
    await host.exited;
    expect(host.stderr).toBe("");
    await standby.event("role-changed", ({ role }) => role === "host");
  }),
  60_000,
);

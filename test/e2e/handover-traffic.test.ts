// What becomes of scripts that run while the host leaves in good order?
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Proc } from "./process.ts";
import { type Ran, type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

const HANDOVERS = 10;
const WORKERS = ["one", "two", "three"];
const DRAIN_MS = 250;

/** Counts in the plugin's own state, so that a second run would show. */
const counted = (id: string, restMs: number): string =>
  `globalThis.ran ??= {}; ran["${id}"] = (ran["${id}"] ?? 0) + 1; await Bun.sleep(${restMs}); return "done ${id}"`;

/** The next host is whoever was first: the one in line, or one that a command has just started. */
async function handOver(stage: Stage, line: readonly Proc[]): Promise<void> {
  const pid = await until("a host", stage.hostPid);
  process.kill(pid, "SIGTERM");
  const left = line.find((proc) => proc.pid === pid);
  if (left) expect(await left.exited).toEqual({ code: 0, signal: null });
  await until("the next host", async () => ![undefined, pid].includes(await stage.hostPid()));
}

test(
  "[SD2] [IF4] while hosts leave one after the other every exec either ends with its output or with exit code 5, and no script runs twice",
  staged(async (stage) => {
    const line = [await stage.serve(), await stage.standby()];
    await Promise.all(WORKERS.map((name) => stage.plugin(name)));
    const results: { name: string; id: string; ran: Ran }[] = [];
    let over = false;
    stage.defer(() => {
      over = true;
    });
    const work = async (name: string): Promise<void> => {
      for (let round = 0; !over; round++) {
        const id = `${name}-${round}`;
        results.push({ name, id, ran: await stage.run(["exec", counted(id, 40), "--instance", name]) });
      }
    };
    const traffic = Promise.all(WORKERS.map(work));
    for (let round = 0; round < HANDOVERS; round++) {
      const before = results.length;
      await handOver(stage, line);
      line.push(await stage.standby());
      await until("traffic on the new host", () => results.length > before + WORKERS.length);
    }
    over = true;
    await traffic;

    const counts: Record<string, number> = {};
    for (const name of WORKERS) {
      const { stdout } = await stage.run(["exec", "ran", "--instance", name, "--json"]);
      Object.assign(counts, JSON.parse(stdout).value);
    }
    for (const { id, ran } of results) {
      if (ran.code === 0)
        expect({ id, out: ran.stdout, times: counts[id] }).toEqual({ id, out: `done ${id}\n`, times: 1 });
      else {
        expect({ id, code: ran.code, stderr: ran.stderr }).toEqual({ id, code: 5, stderr: ran.stderr });
        expect(ran.stderr).toContain("it was not sent again");
        expect(counts[id] ?? 0).toBeLessThanOrEqual(1);
      }
    }
    const done = results.filter(({ ran }) => ran.code === 0).length;
    expect(done).toBeGreaterThan(results.length * 0.8);
  }),
  120_000,
);

test(
  "[SD2] a script that ends within the drain is not lost, and the host does not wait when nothing runs",
  staged(async (stage) => {
    let host = await stage.serve();
    await stage.plugin("one");
    const codes: (number | null)[] = [];
    for (let round = 0; round < 5; round++) {
      const next = await stage.standby();
      const mark = join(stage.directory, `begun-${round}`);
      const script = `require("fs").writeFileSync("${mark}", ""); await Bun.sleep(60); return "kept ${round}"`;
      const running = stage.run(["exec", script]);
      await until("the script's begin", () => existsSync(mark));
      host.kill("SIGTERM");
      const { code, stdout } = await running;
      if (code === 0) expect(stdout).toBe(`kept ${round}\n`);
      codes.push(code);
      await Promise.all([host.exited, next.event("plugin-connected")]);
      host = next;
    }
    // Without a drain none of them would get through; a slow machine may miss the time now and then.
    expect(codes.filter((code) => code === 0).length).toBeGreaterThanOrEqual(3);
    expect(codes.every((code) => code === 0 || code === 5)).toBe(true);

    const [tookOver, left]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round++) {
      const next = await stage.standby();
      await host.end("SIGTERM");
      const { data } = await next.event("role-changed");
      // Told by the host as an event of its own, not by our clock: from the close to the new host.
      tookOver.push(Number(data["tookMs"]));
      const [leaving, stopped] = ["shutting-down", "stopped"].map((type) =>
        host.events.find((event) => event.type === type),
      );
      left.push(Date.parse(stopped?.at ?? "") - Date.parse(leaving?.at ?? ""));
      host = next;
    }
    // A busy machine may be slow, but not each time.
    expect(Math.min(...tookOver)).toBeLessThan(DRAIN_MS);
    expect(Math.min(...left)).toBeLessThan(DRAIN_MS);
  }),
  60_000,
);

test(
  "[SD2] [IF4] [CM3] a script longer than the drain ends with exit code 5 at once, goes on in the plugin, and is never run again",
  staged(async (stage) => {
    const host = await stage.serve();
    const next = await stage.standby();
    await stage.plugin("one");
    const file = join(stage.directory, "runs");
    const script = `const fs = require("fs"); fs.appendFileSync("${file}", "begun\\n"); await Bun.sleep(3000); fs.appendFileSync("${file}", "ended\\n")`;
    const running = stage.run(["exec", script]);
    await until("the script's begin", () => existsSync(file));
    host.kill("SIGTERM");
    const { code, stdout, stderr } = await running;
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
    expect(stderr).toContain("Whether the script ran is unknown; it was not sent again");
    expect(readFileSync(file, "utf8")).toBe("begun\n");
    await next.event("plugin-connected");
    // Behind the long one: the plugin runs one script at a time.
    const after = await stage.run(["exec", `require("fs").readFileSync("${file}", "utf8")`]);
    expect({ code: after.code, stdout: after.stdout }).toEqual({ code: 0, stdout: "begun\nended\n\n" });
  }),
  60_000,
);

// What if an agent says more than a client can read? The client has its cursor: nothing is lost, and nobody waits for it.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inJson, numbersOf, prompt, textOf, withAgents } from "./agent-stage.ts";
import { until } from "./until.ts";

const UPDATES = 200_000;
const STOPPED_MS = 10_000;
/** Measured: 50. A queue of its own for the stopped client would be several hundred. */
const GROWTH_MIB = 160;
const LOOK_MS = 50;

const residentMiB = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

test(
  "[SE5] in a flood of 200,000 updates a client that is stopped for ten seconds loses nothing, the other never waits for it, and the host stays small",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const host = (await stage.hostPid()) ?? 0;
    const stopped = stage.attach("work");
    await stopped.event("turn-ended");
    const before = residentMiB(host);
    let most = before;
    const looking = setInterval(() => {
      most = Math.max(most, residentMiB(host));
    }, LOOK_MS);
    try {
      stopped.kill("SIGSTOP");
      const since = performance.now();
      const other = stage.spawn(inJson(...prompt("work", `flood ${UPDATES}`)));
      expect(await other.exited).toEqual({ code: 0, signal: null });
      const tookMs = performance.now() - since;
      expect(stopped.events.filter(({ type }) => type === "turn-ended")).toHaveLength(1);
      const whole = Array.from({ length: UPDATES }, (_, at) => `${at + 1}\n`).join("");
      expect(textOf(other.events) === whole).toBe(true);

      await Bun.sleep(Math.max(0, STOPPED_MS - tookMs));
      stopped.kill("SIGCONT");
      await until("all of it", () => stopped.events.filter(({ type }) => type === "turn-ended").length === 2, 60_000);
      expect(textOf(stopped.events) === `hello (turn 1)\n${whole}`).toBe(true);
      const numbers = numbersOf(stopped.events);
      expect(numbers.every((number, at) => number === at + 1)).toBe(true);
      expect(numbers.length).toBeGreaterThan(UPDATES);
    } finally {
      clearInterval(looking);
      stopped.kill("SIGCONT");
    }
    expect(most - before).toBeLessThan(GROWTH_MIB);
  }),
  180_000,
);

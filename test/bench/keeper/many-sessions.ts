// What do open sessions cost a takeover? The gap that a client of one of them hears, with many and with hardly any beside it.
import { manyPrompts } from "../agents/many-prompts.ts";
import { inTurns } from "../support/in-turns.ts";
import { atMostTimes, ms, type Row } from "../support/table.ts";
import type { Child, Yard } from "../support/yard.ts";
import { createBroom, startStream } from "./stream-client.ts";

export interface ManySessionsSize {
  sessions: number;
  deaths: number;
  /** Until sessions that nobody uses have come to rest. */
  restMs: number;
}

const GOAL = 2;
const BETWEEN_MS = 100;

async function stage(yard: Yard, binary: string, sessions: number, restMs: number) {
  const join = async (port: number): Promise<{ child: Child; port: number }> => {
    const child = yard.start([binary, "serve", "--standby", "--port", String(port), "--json"]);
    const started = await child.message(({ type }) => type === "started", "its start");
    return { child, port: (started["data"] as { port: number }).port };
  };
  let { child: host, port } = await join(0);
  const sweep = createBroom(yard, binary, port);
  const many = manyPrompts(yard, port);
  for (let made = 1; made < sessions; made++) await many.ask(1, `idle-${made}`);
  const client = await startStream(yard, [binary, "--port", String(port)]);
  await Bun.sleep(restMs);
  return {
    async gap(): Promise<number> {
      const { child: next } = await join(port);
      await Bun.sleep(BETWEEN_MS);
      const since = performance.now();
      host.signal("SIGKILL");
      const took = await client.gapAfter(since);
      await next.message(({ type }) => type === "role-changed", "its promotion");
      await host.exited;
      host = next;
      return took;
    },
    async end(): Promise<void> {
      await client.end();
      await sweep();
      await host.exited;
    },
  };
}

export async function manySessions(yard: Yard, binary: string, size: ManySessionsSize): Promise<Row[]> {
  const one = await stage(yard, binary, 1, 0);
  const many = await stage(yard, binary, size.sessions, size.restMs);
  const { bare, ours, ratio } = await inTurns(size.deaths, one.gap, many.gap);
  await one.end();
  await many.end();
  const what = `kill -9 to the next line, ${size.sessions} open sessions, to one`;
  return [atMostTimes(what, GOAL, ratio, `${ms(bare)} and ${ms(ours)}, p50`)];
}

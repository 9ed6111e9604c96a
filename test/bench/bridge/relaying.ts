// What does our host cost over a relay that only forwards? Both stand side by side and are asked in turns.
import { join } from "node:path";
import { inTurns } from "../support/in-turns.ts";
import { atLeastTimes, atMostTimes, ms, type Row } from "../support/table.ts";
import type { Child, Yard } from "../support/yard.ts";

export interface RelayingSize {
  rounds: number;
  roundMs: number;
}

interface Lane {
  flood(ms: number): Promise<number>;
  oneByOne(ms: number): Promise<number>;
}

const CONCURRENCY = 64;
const SESSION = "bench-session";
const RELAY = join(import.meta.dir, "..", "bare-relay.ts");
const PLUGIN = join(import.meta.dir, "echo-plugin.ts");
const CLIENT = join(import.meta.dir, "load-client.ts");

async function measure(client: Child, order: Record<string, unknown>): Promise<Record<string, number>> {
  const since = client.messages.length;
  client.say(order);
  const answer = await client.message(({ type }) => type === order["type"], `the end of "${order["type"]}"`, since);
  if (answer["failed"] !== 0) throw new Error(`${answer["failed"]} requests failed: the numbers mean nothing`);
  return answer as Record<string, number>;
}

async function openLane(yard: Yard, port: unknown, tokenFile: string): Promise<Lane> {
  const ends = [String(port), tokenFile, SESSION];
  const plugin = yard.start([process.execPath, PLUGIN, ...ends]);
  await plugin.message(({ type }) => type === "open", "the open socket");
  const client = yard.start([process.execPath, CLIENT, ...ends]);
  await client.message(({ type }) => type === "ready", "the first answer");
  return {
    flood: async (roundMs) =>
      (await measure(client, { type: "flood", concurrency: CONCURRENCY, ms: roundMs }))["perSecond"] ?? 0,
    oneByOne: async (roundMs) => (await measure(client, { type: "one-by-one", ms: roundMs }))["p50"] ?? 0,
  };
}

export async function relaying(yard: Yard, binary: string, { rounds, roundMs }: RelayingSize): Promise<Row[]> {
  const host = yard.start([binary, "serve", "--port", "0", "--json"]);
  const started = await host.message(({ type }) => type === "started", "the host's start");
  const relay = yard.start([process.execPath, RELAY]);
  const listening = await relay.message(({ type }) => type === "listening", "the relay's start");
  const tokenFile = join(yard.directory, "state", "holdfast", "token");
  const ours = await openLane(yard, (started["data"] as { port: number }).port, tokenFile);
  const bare = await openLane(yard, listening["port"], tokenFile);

  const flood = await inTurns(
    rounds,
    () => bare.flood(roundMs),
    () => ours.flood(roundMs),
  );
  const single = await inTurns(
    rounds,
    () => bare.oneByOne(roundMs),
    () => ours.oneByOne(roundMs),
  );
  const perSecond = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
  return [
    atLeastTimes(
      `Requests/s, ${CONCURRENCY} at once, to bare relay`,
      0.8,
      flood.ratio,
      `bare ${perSecond(flood.bare)}, ours ${perSecond(flood.ours)}`,
    ),
    atMostTimes(
      "One by one, p50, to bare relay",
      1.5,
      single.ratio,
      `bare ${ms(single.bare)}, ours ${ms(single.ours)}`,
    ),
  ];
}

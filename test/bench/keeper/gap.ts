// How long does a client hear nothing when the host is killed? With somebody in line, and with nobody: then it starts one.
import { median, percentile } from "../support/statistics.ts";
import { atMostMs, ms, type Row, told } from "../support/table.ts";
import { type Child, type Message, until, type Yard } from "../support/yard.ts";
import { createBroom, hostOf, startStream } from "./stream-client.ts";

const REST_MS = 60;

const portOf = (message: Message): number => (message["data"] as { port: number }).port;
const isStarted = ({ type }: Message): boolean => type === "started";
const isPromoted = ({ type }: Message): boolean => type === "role-changed";

async function withStandby(yard: Yard, binary: string, deaths: number): Promise<number[]> {
  const join = async (port: number): Promise<{ child: Child; port: number }> => {
    const child = yard.start([binary, "serve", "--standby", "--port", String(port), "--json"]);
    return { child, port: portOf(await child.message(isStarted, "its start")) };
  };
  const { child: first, port } = await join(0);
  const sweep = createBroom(yard, binary, port);
  let host = first;
  const client = await startStream(yard, [binary, "--port", String(port)]);
  const took: number[] = [];
  for (let death = 0; death < deaths; death++) {
    const { child: next } = await join(port);
    await Bun.sleep(REST_MS);
    const since = performance.now();
    host.signal("SIGKILL");
    took.push(await client.gapAfter(since));
    await next.message(isPromoted, "its promotion");
    await host.exited;
    host = next;
  }
  await client.end();
  await sweep();
  await host.exited;
  return took;
}

/** The client starts the next host itself. */
export async function coldGaps(yard: Yard, binary: string, port: number, deaths: number): Promise<number[]> {
  const client = await startStream(yard, [binary, "--port", String(port)]);
  const took: number[] = [];
  for (let death = 0; death < deaths; death++) {
    const host = await hostOf(port);
    await Bun.sleep(REST_MS);
    const since = performance.now();
    process.kill(host, "SIGKILL");
    took.push(await client.gapAfter(since));
    await until(
      () => isGone(host),
      () => "the end of a host",
    );
  }
  await client.end();
  return took;
}

const isGone = (pid: number): true | undefined => {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch {
    return true;
  }
};

async function withNobody(yard: Yard, binary: string, deaths: number): Promise<number[]> {
  const first = yard.start([binary, "serve", "--port", "0", "--json"]);
  const port = portOf(await first.message(isStarted, "its start"));
  const sweep = createBroom(yard, binary, port);
  const took = await coldGaps(yard, binary, port, deaths);
  await sweep();
  return took;
}

const spread = (took: number[]) => `${took.length} deaths, ${ms(Math.min(...took))} to ${ms(Math.max(...took))}`;

export async function gaps(yard: Yard, binary: string, size: { standby: number; cold: number }): Promise<Row[]> {
  const line = await withStandby(yard, binary, size.standby);
  const cold = await withNobody(yard, binary, size.cold);
  return [
    atMostMs("kill -9 of the host to the next line, standby, p50", 30, median(line), spread(line)),
    told("kill -9 of the host to the next line, standby, p99", ms(percentile(line, 0.99)), ""),
    atMostMs("kill -9 of the host to the next line, cold, p50", 60, median(cold), spread(cold)),
    told("kill -9 of the host to the next line, cold, p99", ms(percentile(cold, 0.99)), "its client starts the next"),
  ];
}

// How long is there no host? The host is killed again and again, and each time its successor is the next to go.
import { percentile } from "../support/statistics.ts";
import { atMostMs, ms, type Row, told } from "../support/table.ts";
import { type Child, type Message, until, type Yard } from "../support/yard.ts";
import { askHealth, nextHost } from "./health-poll.ts";

export interface TakeoverSize {
  standing: number;
  deaths: number;
}

type Death = "SIGKILL" | "SIGTERM";

const TAKEOVER_LIMIT_MS = 15_000;
/** The newcomer's start has used both cores; the next death begins in peace. */
const REST_MS = 30;
/** Before a SIGTERM: so many answers of the old host are seen first. */
const LEAD_MS = 10;

const dataOf = (message: Message) => message["data"] as Record<string, unknown>;

interface Line {
  host: Child;
  standing: Child[];
}

async function settle({ host, standing }: Line): Promise<void> {
  for (const { pid } of standing) {
    const isTheirs = (event: Message) => event["type"] === "client-connected" && dataOf(event)["pid"] === pid;
    await host.message(isTheirs, `client ${pid} in line`);
  }
  await Bun.sleep(REST_MS);
}

/** From the signal, or without one from the last answer, to the first answer of the next host. */
async function oneDeath(port: number, host: Child, how: Death): Promise<number> {
  const before = await askHealth(port);
  if (!before) throw new Error(`The host on port ${port} does not answer before it is killed`);
  let lastHeard = before.answeredAt;
  const polling = nextHost(port, before.failoverAt, TAKEOVER_LIMIT_MS, (beat) => {
    lastHeard = beat.answeredAt;
  });
  if (how === "SIGTERM") await Bun.sleep(LEAD_MS);
  const signalledAt = performance.now();
  host.signal(how);
  const { answeredAt } = await polling;
  return answeredAt - (how === "SIGKILL" ? signalledAt : lastHeard);
}

async function deaths(yard: Yard, binary: string, { standing, deaths: count }: TakeoverSize, how: Death) {
  const join = async (port: number): Promise<{ child: Child; port: number }> => {
    const child = yard.start([binary, "serve", "--standby", "--port", String(port), "--json"]);
    const started = await child.message(({ type }) => type === "started", "its start");
    return { child, port: Number(dataOf(started)["port"]) };
  };
  const { child: first, port } = await join(0);
  const line: Line = { host: first, standing: [] };
  const took: number[] = [];
  for (let death = 0; death < count; death++) {
    while (line.standing.length < standing) line.standing.push((await join(port)).child);
    await settle(line);
    took.push(await oneDeath(port, line.host, how));
    await line.host.exited;
    const promoted = await until(
      () => line.standing.find(({ messages }) => messages.some(({ type }) => type === "role-changed")),
      () => `a successor on port ${port}`,
    );
    line.host = promoted;
    line.standing = line.standing.filter((child) => child !== promoted);
  }
  for (const child of [line.host, ...line.standing]) child.signal("SIGKILL");
  await Promise.all([line.host, ...line.standing].map(({ exited }) => exited));
  return took;
}

const spread = (took: number[]) => `${took.length} deaths, ${ms(Math.min(...took))} to ${ms(Math.max(...took))}`;
const clients = (count: number) => (count === 1 ? "1 client" : `${count} clients`);

export async function crashes(yard: Yard, binary: string, size: TakeoverSize): Promise<Row[]> {
  const took = await deaths(yard, binary, size, "SIGKILL");
  const what = `kill -9 to /health, ${clients(size.standing)}`;
  return [
    atMostMs(`${what}, p50`, 30, percentile(took, 0.5), spread(took)),
    atMostMs(`${what}, p99`, 150, percentile(took, 0.99), ""),
  ];
}

export async function farewells(yard: Yard, binary: string, size: TakeoverSize): Promise<Row[]> {
  const took = await deaths(yard, binary, size, "SIGTERM");
  const what = `SIGTERM, /health not 200, ${clients(size.standing)}`;
  return [
    atMostMs(`${what}, p50`, 20, percentile(took, 0.5), spread(took)),
    told(`${what}, p99`, ms(percentile(took, 0.99)), ""),
  ];
}

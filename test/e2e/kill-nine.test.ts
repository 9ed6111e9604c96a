// Does the bridge outlive its host, again and again?
import { expect, test } from "bun:test";
import { listeners } from "./leftovers.ts";
import type { Proc } from "./process.ts";
import { type Stage, staged } from "./support.ts";

const KILLS = 30;
/** 127.0.0.1, as the kernel writes it. */
const LOOPBACK = "0100007F:";
const INSTANCES = ["one", "two", "three"];

const roleOf = ({ events }: Proc): unknown => events.findLast(({ data }) => "role" in data)?.data["role"];

async function killOnce(stage: Stage, line: Proc[], round: number): Promise<Proc[]> {
  const host = line.find((proc) => roleOf(proc) === "host") as Proc;
  const before = line.map(({ events }) => events.length);
  const waiting = line.filter((proc) => proc !== host);
  const at = (proc: Proc) => before[line.indexOf(proc)] ?? 0;
  await host.end("SIGKILL");
  const next = await Promise.any(
    waiting.map(async (proc) => {
      await proc.event("role-changed", ({ role }) => role === "host", { since: at(proc) });
      return proc;
    }),
  );
  const since = at(next);
  const back = INSTANCES.map((name) =>
    next.event("plugin-connected", (data) => data["instanceId"] === name, { since }),
  );
  const [fresh] = await Promise.all([stage.standby(), ...back]);
  const joined = waiting.filter((proc) => proc !== next);
  await Promise.all(joined.map(({ pid }) => next.event("client-connected", (data) => data["pid"] === pid, { since })));
  const now = [...waiting, fresh];
  expect(now.filter((proc) => roleOf(proc) === "host")).toEqual([next]);
  const ran = await Promise.all(
    INSTANCES.map((name) => stage.run(["exec", `'${name}' + ${round}`, "--instance", name])),
  );
  expect(ran.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
    INSTANCES.map((name) => ({ code: 0, stdout: `${name}${round}\n` })),
  );
  const health = await stage.health();
  expect(health).toMatchObject({ status: 200, body: { status: "ok", port: stage.port, sessions: INSTANCES.length } });
  expect(health?.body["lastFailoverAt"]).toBeString();
  expect(listeners(stage.port).filter((address) => address.startsWith(LOOPBACK))).toHaveLength(1);
  return now;
}

test(
  "[TK3] [TK4] [TK8] [TK11] [TK12] [RC2] the host is killed thirty times in a row: each time one other hosts, every plugin comes back and every exec works",
  staged(async (stage) => {
    let line = [await stage.serve()];
    await Promise.all(INSTANCES.map((name) => stage.plugin(name)));
    line.push(...(await Promise.all(Array.from({ length: 5 }, () => stage.standby()))));
    const pids = new Set<number>();
    for (let round = 1; round <= KILLS; round++) {
      line = await killOnce(stage, line, round);
      pids.add((line.find((proc) => roleOf(proc) === "host") as Proc).pid);
    }
    expect(pids.size).toBe(KILLS);
    expect(line.map(({ running }) => running)).toEqual(Array(6).fill(true));
    // Nobody hosted twice, and nobody but the ones killed went away.
    expect(stage.processes()).toHaveLength(line.length + INSTANCES.length);
  }),
  180_000,
);

test(
  "[RC4] three contexts of one instance come back by themselves, and those that are back work while another is still away",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    const contexts = ["edit", "client", "server"];
    const plugins = await Promise.all(contexts.map((context) => stage.plugin("game", "--context", context)));
    const slow = plugins[2] as Proc;
    slow.kill("SIGSTOP");
    await host.end("SIGKILL");
    for (const context of ["edit", "client"])
      await standby.event("plugin-connected", (data) => data["context"] === context);
    const exec = (context: string) =>
      stage.run(["exec", `"${context} works"`, "--instance", "game", "--context", context]);
    for (const context of ["edit", "client"]) expect((await exec(context)).stdout).toBe(`${context} works\n`);
    const waiting = exec("server");
    slow.kill("SIGCONT");
    expect((await waiting).stdout).toBe("server works\n");
    const { stdout } = await stage.run(["sessions", "--json"]);
    const found = (JSON.parse(stdout) as Record<string, string>[]).map(({ instanceId, context }) => ({
      instanceId,
      context,
    }));
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining(contexts.map((context) => ({ instanceId: "game", context }))));
    // Without a context it is the edit one.
    expect((await stage.run(["exec", "1", "--json"])).code).toBe(0);
  }),
  60_000,
);

// When does an agent end that outlives its hosts? When it is idle and its host stops, when it is told to, or when nobody came for too long.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AgentStage, chunks, inJson, prompt, textOf, withAgents } from "./agent-stage.ts";
import { isRunning, kinship, unixSockets } from "./leftovers.ts";
import { until } from "./until.ts";

const toolOf = async (stage: AgentStage, seconds: number): Promise<number> => {
  const find = () => stage.agentProcesses().find(({ command }) => command === `sleep ${seconds}`);
  return (await until("the shell tool", find)).pid;
};

/** Nothing at all is there, and nobody hosts. */
const expectNothingLeft = async (stage: AgentStage): Promise<void> => {
  const { agentProcesses, holders, keepers, processes } = stage;
  expect([...agentProcesses(), ...holders(), ...keepers(), ...processes()]).toEqual([]);
  expect((await stage.run(["status"])).code).toBe(4);
};

/** What agents wrote, whether somebody hosts or not. */
const hasSaid = (stateHome: string, text: string): boolean =>
  readdirSync(stateHome, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("/out"))
    .some((path) => readFileSync(join(stateHome, path), "utf8").includes(text));

test(
  "[KP7] a shell tool in a session of its own is gone after stop --agents, also when its host was killed before",
  withAgents(async (stage) => {
    const working = stage.spawn(inJson(...prompt("work", "shell sleep 600")));
    const tool = await toolOf(stage, 600);
    await working.end("SIGKILL");
    const [agent, host, keepers] = [await stage.agentPid(), stage.listener() ?? 0, stage.keeperPids()];
    expect(kinship(tool).session).not.toBe(kinship(agent).session);
    process.kill(host, "SIGKILL");
    await until("its end", () => !isRunning(host));
    expect([agent, tool, ...keepers].every(isRunning)).toBe(true);
    const stopped = await stage.run(["stop", "--agents"]);
    expect(stopped.code).toBe(0);
    expect(stopped.stderr).toContain("Session work was working: how its turn ended is unknown\n");
    expect([agent, tool, ...keepers].filter(isRunning)).toEqual([]);
    await expectNothingLeft(stage);
    const records = stage.journal("work");
    expect(records.filter(({ type }) => type === "turn-ended").map(({ data }) => data["stopReason"])).toEqual(["lost"]);
  }),
  60_000,
);

/** Attaches to the agent's keeper as a newer host would, and says nothing more. */
async function fence(stage: AgentStage): Promise<void> {
  const [place = ""] = stage.keepers();
  const [{ socket: unix }, { generation }] = ["spec.json", "state.json"].map((name) =>
    JSON.parse(readFileSync(join(place, name), "utf8")),
  );
  const attached = Promise.withResolvers<void>();
  const newer = await Bun.connect({ unix, socket: { data: () => attached.resolve() } });
  stage.defer(() => void newer.end());
  newer.write(`${JSON.stringify({ verb: "attach", version: 1, generation: generation + 1 })}\n`);
  await attached.promise;
}

test(
  "[KP8] a host whose agent a newer one has hands over to who stands in line and leaves in good order; the turn arrives whole",
  withAgents(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    const working = stage.spawn(inJson(...prompt("work", "stream 300 5")));
    await working.event("update");
    const agent = await stage.agentPid();
    await fence(stage);
    expect((await host.exited).code).toBe(0);
    expect(host.stderr).toContain("A newer host has our agents; this one leaves");
    await standby.event("role-changed", ({ role }) => role === "host");
    expect((await working.exited).code).toBe(0);
    expect([textOf(working.events), textOf(stage.journal("work"))]).toEqual([chunks(300), chunks(300)]);
    const numbers = stage.journal("work").map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect([await stage.agentPid(), stage.listener(), stage.keeperPids().length]).toEqual([agent, standby.pid, 1]);
  }),
  60_000,
);

test(
  "[KP8] SIGTERM of the host leaves a working agent to its keeper, and the next host shows all of its turn",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "stream 200 10", "--detach"));
    await until("its begin", () => textOf(stage.journal("work")) !== "");
    const [agent, host] = [await stage.agentPid(), stage.listener() ?? 0];
    process.kill(host, "SIGTERM");
    await until("its end", () => !isRunning(host));
    expect(stage.listener()).toBeUndefined();
    expect([agent, ...stage.keeperPids()].filter(isRunning)).toHaveLength(2);
    await until("its last word while nobody hosts", () => hasSaid(stage.env["XDG_STATE_HOME"] ?? "", '"stopReason"'));
    expect((await stage.agentSessions()).map(({ name, turn }) => ({ name, turn }))).toEqual([
      { name: "work", turn: "idle" },
    ]);
    expect(textOf(stage.journal("work"))).toBe(chunks(200));
    expect(await stage.agentPid()).toBe(agent);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 2)\n");
  }),
  60_000,
);

test(
  "[KP8] stop ends idle agents and leaves the ones that work, which status then shows with their keepers",
  withAgents(async (stage) => {
    stage.installOddAgent();
    await stage.run(["prompt", "codex", "end_turn", "--session", "idle"]);
    await stage.run(prompt("busy", "shell sleep 600", "--detach"));
    const tool = await toolOf(stage, 600);
    const [idle, busy] = [await stage.agentPid("codex"), await stage.agentPid("demo")];
    expect([stage.keepers().length, stage.keeperPids().length, stage.holders().length]).toEqual([2, 2, 2]);

    const stopped = await stage.run(["stop"]);
    expect(stopped.code).toBe(0);
    expect(stopped.stderr).toContain("Session busy works on; holdfast attach busy shows it");
    expect([idle, busy, tool].filter(isRunning)).toEqual([busy, tool]);
    // Told to leave by a host that does not wait for it.
    await until("the end of its keeper", () => stage.keeperPids().length === 1);
    expect([stage.keepers().length, stage.keeperPids().length, stage.holders().length]).toEqual([1, 1, 1]);
    expect((await stage.run(["status"])).code).toBe(4);

    expect((await stage.agentSession("busy"))?.turn).toBe("running");
    const { agents } = JSON.parse((await stage.run(["status", "--json"])).stdout);
    expect(agents).toEqual([expect.objectContaining({ name: "demo", pid: busy, keeper: stage.keeperPids()[0] })]);
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
    expect([busy, tool].filter(isRunning)).toEqual([]);
    await expectNothingLeft(stage);
  }),
  60_000,
);

test(
  "[KP7] a keeper without a host ends its agent and all that it started when the time is over; the next host clears up",
  withAgents(
    async (stage) => {
      // Not detached, which would keep it until its turn has ended.
      const client = stage.spawn(prompt("work", "shell sleep 600"));
      const [tool, agent, host] = [await toolOf(stage, 600), await stage.agentPid(), stage.listener() ?? 0];
      await client.end("SIGKILL");
      process.kill(host, "SIGKILL");
      await until("the end of all", () => stage.processes().length === 0 && ![tool, agent].some(isRunning));
      expect([...stage.agentProcesses(), ...stage.holders()]).toEqual([]);
      expect((await stage.agentSession("work"))?.turn).toBe("idle");
      await until("the end of its directory", () => stage.keepers().length === 0);
      const records = stage.journal("work");
      expect(records.find(({ type }) => type === "turn-ended")?.data).toMatchObject({ stopReason: "lost" });
    },
    { MAX_IDLE_MS: "4000" },
  ),
  60_000,
);

test(
  "[KP1] [KP10] what a keeper keeps is private, and its agent writes straight into it",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const [keeper = ""] = stage.keepers();
    expect(statSync(keeper).mode & 0o777).toBe(0o700);
    const names = readdirSync(keeper);
    for (const name of ["out", "err", "in", "in.log", "spec.json", "state.json"]) expect(names).toContain(name);
    const open = names.filter((name) => !statSync(join(keeper, name)).isSocket());
    expect(open.filter((name) => (statSync(join(keeper, name)).mode & 0o777) !== 0o600)).toEqual([]);
    const agent = await stage.agentPid();
    const target = async (fd: number) => (await stage.shell(`readlink /proc/${agent}/fd/${fd}`)).stdout.trim();
    expect([await target(0), await target(1), await target(2)]).toEqual(
      ["in", "out", "err"].map((name) => join(keeper, name)),
    );
    const [pid = 0] = stage.keeperPids();
    expect(kinship(pid)).toEqual({ group: pid, session: pid });
    expect(kinship(agent)).toEqual({ group: agent, session: agent });
    expect(existsSync(join(keeper, "s"))).toBe(true);
  }),
  60_000,
);

test(
  "[KP10] where the path of its socket would be too long it has a short one, which is gone with it",
  withAgents(async (stage) => {
    stage.env["XDG_STATE_HOME"] = join(stage.directory, "deep".repeat(20));
    const running = stage.spawn(inJson(...prompt("work", "stream 200 10")));
    await running.event("update");
    const [socket, ...more] = unixSockets(stage.directory);
    expect(more.filter((path) => path !== socket)).toEqual([]);
    expect(Buffer.byteLength(socket ?? "")).toBeLessThan(104);
    expect(socket).toStartWith(`${stage.env["TMPDIR"]}/holdfast-`);
    process.kill(stage.listener() ?? 0, "SIGKILL");
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(textOf(running.events)).toBe(chunks(200));
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
    expect(unixSockets(stage.directory)).toEqual([]);
    expect(readdirSync(dirname(socket ?? ""))).toEqual([]);
  }),
  60_000,
);

test(
  "[KP7] a keeper that is stopped is gone after stop --agents, too",
  withAgents(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).code).toBe(0);
    const [keeper = 0] = stage.keeperPids();
    process.kill(keeper, "SIGSTOP");
    const stopped = await stage.run(["stop", "--agents"]);
    expect([stopped.code, isRunning(keeper)]).toEqual([0, false]);
    await expectNothingLeft(stage);
  }),
  60_000,
);

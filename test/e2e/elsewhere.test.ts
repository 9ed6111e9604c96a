// What if two hosts share a state directory and not a port? In a network namespace of its own a second one finds the port
// free, and everything in use: it leaves all of it alone, until nobody there lives any more.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, chunks, inJson, prompt, textOf, withAgents } from "./agent-stage.ts";
import { isRunning } from "./leftovers.ts";
import { until } from "./until.ts";

const isRoot = process.getuid?.() === 0;
/** Only root may make namespaces everywhere. Where that is missing this is said, and nothing is proven. */
const canLeave = isRoot && Bun.spawnSync(["unshare", "-n", "true"]).exitCode === 0;
if (isRoot && !canLeave) console.error("SKIPPED: [KP13] no network namespace can be made here, although this is root");

/** Runs in a network namespace of its own, which ends with it. */
const elsewhere = (stage: AgentStage, script: string, ...flags: string[]) =>
  stage.spawnShell(`exec unshare -n ${flags.join(" ")} sh -c '${`ip link set lo up; ${script}`}'`);

test.skipIf(!canLeave)(
  "[KP13] what is in use in another namespace is neither adopted nor told lost, and status says so; both work on",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "stream 400 10", "--detach"));
    await until("its begin", () => textOf(stage.journal("work")) !== "");
    const [agent, host, keepers] = [await stage.agentPid(), stage.listener(), stage.keeperPids()];
    const generation = readFileSync(join(stage.state, "ports", String(stage.port), "generation"), "utf8");

    const other = elsewhere(
      stage,
      "holdfast prompt demo hello -s work; echo code $?; holdfast status; holdfast stop --agents",
    );
    // Not ended, and named: they work on elsewhere.
    expect((await other.exited).code).toBe(1);
    expect(other.stderr).toContain("Not ended: Agents and sessions of port");
    expect(other.stderr).toContain("are in use in another namespace of this machine");
    expect(other.stdout).toContain("code 1\n");
    expect(other.stdout).toContain("1 agent of another machine or namespace is left alone");

    expect(readFileSync(join(stage.state, "ports", String(stage.port), "generation"), "utf8")).toBe(generation);
    expect([await stage.agentPid(), stage.listener(), stage.keeperPids()]).toEqual([agent, host, keepers]);
    await until("the end of the turn", () => stage.journal("work").some(({ type }) => type === "turn-ended"));
    const records = stage.journal("work");
    expect(textOf(records)).toBe(chunks(400));
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    expect(records.find(({ type }) => type === "turn-ended")?.data["stopReason"]).toBe("end_turn");
  }),
  120_000,
);

test.skipIf(!canLeave)(
  "[KP13] when all that lived in the other namespace was killed, its sessions are ours at once and its turn is told lost",
  withAgents(async (stage) => {
    const [go, said] = [join(stage.directory, "go"), join(stage.directory, "said")];
    // A namespace for processes too: whoever ends it ends all of them, as the end of a container does.
    const script = `holdfast prompt demo "stream 100000 10" -s work --detach; touch ${said}; while [ ! -e ${go} ]; do sleep 0.05; done`;
    const container = elsewhere(stage, script, "-p", "-f", "--kill-child", "--mount-proc");
    // It takes no signals itself.
    stage.defer(() => writeFileSync(go, ""));
    await until("its begin", () => existsSync(said) && textOf(stage.journal("work")) !== "");
    const refused = await stage.run(prompt("work", "hello"));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("are in use in another namespace")]);
    const inside = stage.processes().filter(({ command }) => command.includes(" keeper "));
    expect(inside).toHaveLength(1);

    writeFileSync(go, "");
    await container.exited;
    await until("the end of all there", () => !inside.some(({ pid }) => isRunning(pid)));
    const ran = await stage.run(inJson(...prompt("work", "hello")));
    expect(ran.code).toBe(0);
    const ended = stage.journal("work").filter(({ type }) => type === "turn-ended");
    expect(ended.map(({ data }) => data["stopReason"])).toEqual(["lost", "end_turn"]);
  }),
  120_000,
);

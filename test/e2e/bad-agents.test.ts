// Does anything hang or break when an adapter misbehaves? Configured agents that do their worst, through a keeper and its file.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, inJson, numbersOf, prompt, textOf, withAgents } from "./agent-stage.ts";
import { isRunning } from "./leftovers.ts";
import type { Proc } from "./process.ts";
import { until } from "./until.ts";

const BAD_AGENT = join(import.meta.dir, "../fixtures/agents/bad-agent.ts");
/** Said to whoever waits longer than a second. */
const PROGRESS = /^Waiting for .*\n/gm;
const ERR_BYTES = 1024 * 1024;

const DROPPED = /^A line of 400\d{5} bytes from Bad was dropped$/;

/** One agent for each way, called by its way. */
function configure(stage: AgentStage, ...ways: string[]): void {
  const directory = join(stage.directory, "home", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  const agents = ways.map((how) => [how, { command: process.execPath, args: [BAD_AGENT, how], displayName: "Bad" }]);
  writeFileSync(join(directory, "config.json"), JSON.stringify({ agents: Object.fromEntries(agents) }));
}

const ask = (stage: AgentStage, how: string): Proc =>
  stage.spawn(inJson("prompt", how, "go", "--session", how), { stdin: "" });

async function asked(stage: AgentStage, how: string) {
  const proc = ask(stage, how);
  const { code } = await proc.exited;
  const stderr = proc.stderr.replaceAll(PROGRESS, "").split("\n").filter(Boolean);
  const [fault] = stderr.filter((line) => line.startsWith("{"));
  // What was dropped is told to whoever looks on, too.
  const dropped = stderr.filter((line) => DROPPED.test(line)).length;
  return { how, code, said: textOf(proc.events), why: fault ? JSON.parse(fault).error.message : "", dropped };
}

const logged = ({ state }: AgentStage): string =>
  readdirSync(join(state, "logs"))
    .map((name) => readFileSync(join(state, "logs", name), "utf8"))
    .join("");

/** What the keeper of this agent has in its place. */
const placeOf = (stage: AgentStage, agent: string): string =>
  stage.keepers().find((path) => JSON.parse(readFileSync(join(path, "spec.json"), "utf8")).agent === agent) ?? "none";

test(
  "[AC1] [KP1] garbage, wrong ids, bytes one by one and a line of 40 MB in an agent's file: what means something arrives, the rest is passed over",
  withAgents(async (stage) => {
    const SAID = { garbage: "done", ids: "done", halves: "cut ", long: "after the long linedone" };
    configure(stage, ...Object.keys(SAID));
    for (const [how, said] of Object.entries(SAID)) {
      // The second turn is asked of the same process.
      for (const turn of [1, 2])
        expect({ turn, ...(await asked(stage, how)) }).toEqual({
          ...{ turn, how, code: 0, said, why: "" },
          dropped: how === "long" ? 1 : 0,
        });
      const numbers = numbersOf(stage.journal(how));
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    }
    expect(logged(stage).match(/A line of 400\d{5} bytes from Bad was dropped/g)).toHaveLength(2);
    expect(statSync(join(placeOf(stage, "long"), "out")).size).toBeGreaterThan(80_000_000);
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
  }),
  120_000,
);

test(
  "[AC1] [KP2] the host is killed in the middle of a line of 40 MB: the next one drops it as one, and the turn is whole",
  withAgents(async (stage) => {
    configure(stage, "slow");
    expect((await asked(stage, "slow")).code).toBe(0);
    const out = join(placeOf(stage, "slow"), "out");
    const before = statSync(out).size;
    const proc = ask(stage, "slow");
    await until("some of the line", () => statSync(out).size > before + 1_000_000);
    process.kill(stage.listener() ?? 0, "SIGKILL");
    expect(statSync(out).size - before).toBeLessThan(40_000_000);
    expect(await proc.exited).toEqual({ code: 0, signal: null });
    const said = "after the long linedone";
    expect([textOf(proc.events), textOf(stage.journal("slow"))]).toEqual([said, said.repeat(2)]);
    expect(logged(stage).match(/A line of 400\d{5} bytes from Bad was dropped/g)).toHaveLength(2);
  }),
  120_000,
);

test(
  "[AM8] [KP9] megabytes on stderr before the handshake block nothing; its file is cut, and its last lines are shown",
  withAgents(async (stage) => {
    configure(stage, "stderr");
    expect(await asked(stage, "stderr")).toEqual({ how: "stderr", code: 0, said: "done", why: "", dropped: 0 });
    const err = join(placeOf(stage, "stderr"), "err");
    // Cut to nothing first, then its end is written back.
    await until("the cut", () => statSync(err).size > 0 && statSync(err).size <= ERR_BYTES);
    const shown = async (): Promise<string[]> =>
      JSON.parse((await stage.run(["status", "--json"])).stdout).agents[0].stderr;
    // Behind a busy machine's back they are on their way.
    const last = `99999 ${"x".repeat(50)}`;
    await until("the last line", async () => (await shown()).at(-1) === last);
    expect(await shown()).toHaveLength(200);
  }),
  60_000,
);

test(
  "[AM3] one that exits, refuses or garbles the handshake: exit code 1 with the reason, at once, and its process is gone",
  withAgents(async (stage) => {
    const WHY = { exits: "Cannot find module 'left-pad'", refuses: "Not today", garbles: "protocolVersion" };
    configure(stage, ...Object.keys(WHY));
    for (const [how, part] of Object.entries(WHY)) {
      const { code, why } = await asked(stage, how);
      expect([how, code, why]).toEqual([how, 1, expect.stringContaining(part)]);
      expect(why).toStartWith("Could not connect to Bad\n");
    }
    await until("the end of all of them", () => stage.agentProcesses().length === 0 && stage.keepers().length === 0);
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
  }),
  60_000,
);

test(
  "[AM3] [KP9] one that never answers the handshake is given up after 30 s, one that falls silent in the middle of a line after 10: nobody waits longer",
  withAgents(async (stage) => {
    configure(stage, "silent", "torn");
    const [silent, torn] = await Promise.all([asked(stage, "silent"), tornTurn(stage)]);
    expect(silent).toEqual({
      how: "silent",
      code: 1,
      said: "",
      why: 'Could not connect to Bad\nNo answer to "initialize" within 30000 ms',
      dropped: 0,
    });
    expect(torn).toEqual({
      how: "torn",
      code: 5,
      said: "half ",
      why: expect.stringContaining("the outcome is unknown"),
      dropped: 0,
    });
    expect(logged(stage)).toContain("Bad is started again: its output ends in the middle of a line");
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
  }),
  120_000,
);

/** The process that fell silent is ended, and another one there. */
async function tornTurn(stage: AgentStage) {
  const turn = asked(stage, "torn");
  const first = await until("the agent", async () => await stage.agentPid("torn").catch(() => undefined));
  const told = await turn;
  await until("the next one", async () => (await stage.agentPid("torn").catch(() => first)) !== first);
  expect(isRunning(first)).toBe(false);
  return told;
}

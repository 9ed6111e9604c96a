// What does one bad file cost? Itself: every other session, agent and viewer goes on, and stop --agents ends all of them.
import { expect, test } from "bun:test";
import { appendFileSync, chmodSync, chownSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, chunks, inJson, prompt, textOf, withAgents } from "./agent-stage.ts";
import { isRunning } from "./leftovers.ts";
import { until } from "./until.ts";

const LINES = 600;

const journalOf = (stage: AgentStage, session: string): string =>
  join(stage.state, "ports", String(stage.port), "sessions", `${session}.ndjson`);

/** A stream runs, and another session lies beside it that is made bad before the host is killed. */
const besideABadOne = (spoil: (stage: AgentStage) => void) =>
  withAgents(async (stage) => {
    expect((await stage.run(prompt("bad", "hello"))).code).toBe(0);
    const asker = stage.spawn(inJson(...prompt("work", `stream ${LINES} 5`)));
    await asker.event("update");
    const agent = await stage.agentPid();
    const host = stage.listener() ?? 0;
    process.kill(host, "SIGKILL");
    await until("its end", () => !isRunning(host));
    spoil(stage);
    const { code } = await asker.exited;
    expect([code, textOf(asker.events)]).toEqual([0, chunks(LINES)]);
    expect(await stage.agentPid()).toBe(agent);
    const records = stage.journal("work");
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    expect(records.filter(({ type }) => type === "turn-ended").map(({ data }) => data["stopReason"])).toEqual([
      "end_turn",
    ]);
    expect((await stage.run(["sessions", "--all"])).code).toBe(0);
    const stopped = await stage.run(["stop", "--agents"]);
    expect([stopped.code, stage.agentProcesses(), stage.holders(), stage.keepers()]).toEqual([0, [], [], []]);
  });

test(
  "[SC14] a journal that others may read is told and skipped; the turn beside it goes on",
  besideABadOne((stage) => chmodSync(journalOf(stage, "bad"), 0o644)),
  60_000,
);

test.if(process.getuid?.() === 0)(
  "[SC14] a journal of another owner is told and skipped; the turn beside it goes on",
  besideABadOne((stage) => chownSync(journalOf(stage, "bad"), 65_534, 65_534)),
  60_000,
);

test(
  "[SC14] a line in an agent's input log that says nothing is passed over",
  besideABadOne((stage) => {
    for (const place of stage.keepers()) appendFileSync(join(place, "in.log"), 'null\n5\n{"key":1}\n');
  }),
  60_000,
);

test(
  "[SC14] a keeper's directory that was half removed costs nobody else anything, and is removed",
  besideABadOne((stage) => {
    const [place = ""] = stage.keepers();
    const half = join(place, "..", "deadbeef");
    // Its state may be written anew at this very moment, and then the copy has none.
    do Bun.spawnSync(["cp", "-a", `${place}/.`, half]);
    while (!existsSync(join(half, "state.json")));
    const state = JSON.parse(readFileSync(join(half, "state.json"), "utf8"));
    const dead = { pid: 4_194_303, startTime: "1" };
    const gone = { ...state, keeper: dead, agent: dead, holder: dead, exit: { code: 0, signal: null } };
    writeFileSync(join(half, "state.json"), JSON.stringify(gone));
    const spec = JSON.parse(readFileSync(join(half, "spec.json"), "utf8"));
    const socket = join(half, "s");
    writeFileSync(join(half, "spec.json"), JSON.stringify({ ...spec, run: "deadbeef-0", tag: "nobody", socket }));
    for (const name of ["out", "in.log", "checkpoint.json", "s"]) rmSync(join(half, name), { force: true });
  }),
  60_000,
);

test(
  "[SC14] an agent that no host can take over is ended by stop --agents, and what it cannot end it names",
  withAgents(async (stage) => {
    const asker = stage.spawn(inJson(...prompt("work", `stream ${LINES} 20`)));
    await asker.event("update");
    const [place = ""] = stage.keepers();
    const host = stage.listener() ?? 0;
    process.kill(host, "SIGKILL");
    await until("its end", () => !isRunning(host));
    chmodSync(join(place, "spec.json"), 0o644);
    await asker.end("SIGKILL");
    const refused = await stage.run(["stop", "--agents"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`Not ended: ${place}: `);
    expect(refused.stderr).toContain("spec.json");
    chmodSync(join(place, "spec.json"), 0o600);
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
    expect([stage.agentProcesses(), stage.holders(), stage.keepers()]).toEqual([[], [], []]);
  }),
  60_000,
);

test(
  "[SC14] attach to a finished session whose last record is missing shows it, and the host lives on",
  withAgents(async (stage) => {
    const asked = await stage.run(["prompt", "demo", "hello", "--json"]);
    expect(asked.code).toBe(0);
    const host = stage.listener();
    const all = JSON.parse((await stage.run(["sessions", "--all", "--json"])).stdout) as { name: string }[];
    const name = all[0]?.name ?? "";
    const path = journalOf(stage, name);
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    expect(lines.at(-1)).toContain('"session-closed"');
    writeFileSync(path, `${lines.slice(0, -1).join("\n")}\n`);
    const viewer = stage.attach(name);
    await viewer.event("session-closed");
    await viewer.end("SIGKILL");
    expect(stage.listener()).toBe(host);
    expect((await stage.run(["prompt", "demo", "again"])).code).toBe(0);
  }),
  60_000,
);

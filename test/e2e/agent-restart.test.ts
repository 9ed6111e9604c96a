// What outlives a host? Sessions by their name: the next host knows the conversation, and every number is given once.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, chunks, inJson, numbersOf, prompt, textOf, withAgents } from "./agent-stage.ts";
import type { Proc } from "./process.ts";
import { until } from "./until.ts";

/** Every file below the state directory. */
const filesOf = (stage: AgentStage): string[] =>
  readdirSync(stage.state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test(
  "[SE1] [SE7] a session survives stop: on the next host the same name knows the conversation",
  withAgents(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
    for (const turn of [2, 3]) {
      expect((await stage.run(["stop"])).code).toBe(0);
      expect(stage.processes()).toEqual([]);
      expect(stage.agentProcesses()).toEqual([]);
      const again = await stage.run(prompt("work", "again"));
      expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: `again (turn ${turn})\n` });
    }
    const client = stage.attach("work");
    await until("three turns", () => client.events.filter(({ type }) => type === "turn-ended").length === 3);
    expect(textOf(client.events)).toBe("hello (turn 1)\nagain (turn 2)\nagain (turn 3)\n");
    const numbers = numbersOf(client.events);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  }),
  60_000,
);

test(
  "[SE1] an existing name with another agent or another directory is exit 2, also on the next host",
  withAgents(async (stage) => {
    stage.installOddAgent();
    await stage.run(prompt("work", "hello"));
    for (const round of ["this host", "the next"]) {
      for (const words of [
        ["prompt", "codex", "end_turn", "--session", "work"],
        prompt("work", "hello", "--cwd", stage.directory),
      ]) {
        const ran = await stage.run(words);
        expect({ round, words, code: ran.code }).toEqual({ round, words, code: 2 });
        expect(ran.stderr).toContain('Session "work" belongs to demo in "/"; choose another name with --session');
      }
      await stage.run(["stop"]);
    }
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 2)\n");
    const unknown = await stage.run(prompt("../work", "hello"));
    expect(unknown.code).toBe(2);
  }),
  60_000,
);

/** As `watcher` has seen them and as they stand in the journal: from 1 on, none twice, none left out. */
const expectGivenOnce = (stage: AgentStage, session: string, watcher: Proc): void => {
  const numbers = numbersOf(watcher.events);
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  const records = stage.journal(session);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
};

test(
  "[SE3] [KP8] stop in mid-turn leaves the turn and what waits behind it to the next host, and no number of the journal is given twice",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const host = await stage.hostPid();
    const agent = await stage.agentPid();
    await stage.standby();
    const running = stage.spawn(inJson(...prompt("work", "shell sleep 4; echo slept")));
    await running.event("update");
    const waiting = stage.spawn(inJson(...prompt("work", "behind")));
    await waiting.event("prompt", ({ text }) => text === "behind");
    const watcher = stage.attach("work");
    await watcher.event("update", (data) => JSON.stringify(data).includes("sleep 4"));

    const stopped = await stage.run(["stop", "--json"]);
    expect(stopped.code).toBe(0);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: host, cut: [], working: ["work"] });
    // Whoever stood in line: the one that waits for it, or the one that watches the session.
    expect(await until("the next host", () => stage.hostPid())).not.toBe(host);
    for (const each of [running, waiting]) {
      expect((await each.exited).code).toBe(0);
      expect(each.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "end_turn" } });
    }
    expect(textOf(running.events)).toStartWith("slept\n");
    expect(textOf(waiting.events)).toEndWith("behind (turn 3)\n");
    expect(await stage.agentPid()).toBe(agent);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 4)\n");
    await until("the last turn's end", () => watcher.events.filter(({ type }) => type === "turn-ended").length === 4);
    expectGivenOnce(stage, "work", watcher);
  }),
  60_000,
);

test(
  "[SE3] [SE7] [KP8] stop --agents in mid-turn tells the clients that the turn is lost, and that what waited was never sent",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const [host, agent] = [await stage.hostPid(), await stage.agentPid()];
    await stage.standby();
    const running = stage.spawn(inJson(...prompt("work", "shell sleep 600")));
    await running.event("update");
    const waiting = stage.spawn(inJson(...prompt("work", "never")));
    await waiting.event("prompt", ({ text }) => text === "never");
    const watcher = stage.attach("work");
    await watcher.event("update", (data) => JSON.stringify(data).includes("sleep 600"));

    const stopped = await stage.run(["stop", "--agents", "--json"]);
    expect(stopped.code).toBe(0);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: host, cut: ["work"], working: [] });
    expect((await running.exited).code).toBe(5);
    expect(running.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "lost" } });
    // It was never sent: there is no doubt about it.
    expect((await waiting.exited).code).toBe(1);
    expect(waiting.events.at(-1)).toMatchObject({ type: "turn-ended", data: { code: "REFUSED" } });
    expect(stage.agentProcesses().map(({ pid }) => pid)).not.toContain(agent);
    expect(await until("the next host", () => stage.hostPid())).not.toBe(host);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 3)\n");
    await until("the last turn's end", () => watcher.events.filter(({ type }) => type === "turn-ended").length === 4);
    expectGivenOnce(stage, "work", watcher);
  }),
  60_000,
);

test(
  "[SE7] [KP2] [KP5] kill -9 of the host in mid-turn: the prompt goes on and exits 0, the turn is never sent again, and the name goes on",
  withAgents(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
    const host = (await stage.hostPid()) ?? 0;
    const running = stage.spawn(inJson(...prompt("work", "stream 150 20")));
    await running.event("update");
    const agent = await stage.agentPid();
    process.kill(host, "SIGKILL");
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(textOf(running.events)).toBe(chunks(150));
    expect(await stage.hostPid()).not.toBe(host);
    expect(await stage.agentPid()).toBe(agent);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 3)\n");
    const records = stage.journal("work");
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    expect(records.filter(({ type }) => type === "turn-started")).toHaveLength(3);
  }),
  60_000,
);

test(
  "[AM10] an agent sees what its definition lists, of the command that caused its start, and nothing else",
  withAgents(async (stage) => {
    const env = { MY_SECRET: "sesame", LANG: "de_CH.UTF-8", ANTHROPIC_API_KEY: "sk-nothing" };
    const first = await stage.run(["prompt", "demo", "shell env"], { env });
    const seen = Object.fromEntries(
      first.stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    expect(seen).toMatchObject({ LANG: "de_CH.UTF-8", HOME: stage.env["HOME"] ?? "", PATH: stage.env["PATH"] ?? "" });
    const allowed = ["HOLDFAST_AGENT", "HOME", "LANG", "PATH", "TMPDIR", "XDG_STATE_HOME"];
    // A shell adds its own.
    const own = ["PWD", "OLDPWD", "SHLVL", "_"];
    expect(
      Object.keys(seen)
        .filter((name) => !own.includes(name))
        .toSorted(),
    ).toEqual(allowed);
    expect(first.stdout).not.toMatch(/sesame|sk-nothing|HOLDFAST_E2E_TAG|HOLDFAST_PORT/);

    const second = await stage.run(["prompt", "demo", "shell env"], { env: { LANG: "C" } });
    expect(second.stdout).toContain("LANG=de_CH.UTF-8\n");
    await stage.run(["reconnect", "demo"], { env: { LANG: "C" } });
    const kept = filesOf(stage).filter((path) => path.endsWith(".env.json"));
    expect(kept).toHaveLength(1);
    for (const path of kept) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, "utf8")).not.toMatch(/sesame|sk-nothing/);
    }
    expect(existsSync(stage.state)).toBe(true);
  }),
  60_000,
);

// What does a person read when something is not as it should be? What is wrong and what to do, with the right code.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { prompt, withAgents } from "./agent-stage.ts";
import { staged } from "./support.ts";
import { until } from "./until.ts";

test(
  "[CM3] [CM4] a state directory that cannot be used is named with the reason and the remedy, and doctor calls it a problem",
  staged(async (stage) => {
    const file = join(stage.directory, "file");
    writeFileSync(file, "");
    const env = { XDG_STATE_HOME: join(file, "state") };
    for (const words of [["sessions"], ["status"], ["serve"], ["plugin", "js"], ["attach", "x"], ["stop"]]) {
      const { code, stderr, stdout } = await stage.run(words, { env });
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: "" });
      expect(stderr).toContain(`The state directory "${file}/state/holdfast" cannot be used`);
      expect(stderr).toContain("XDG_STATE_HOME");
      expect(stderr).not.toMatch(/\bE[A-Z]{4,}:/);
    }
    const doctor = await stage.run(["doctor"], { env });
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/problem +files +.*cannot be written/);
  }),
  60_000,
);

test(
  "[CM3] [KP1] status without a host says which agents work on without one, and ends with 4",
  withAgents(async (stage) => {
    const host = await stage.serve();
    expect((await stage.run(prompt("work", "stream 100000 20", "--detach"))).code).toBe(0);
    // A turn runs before its agent does.
    await until("the agent's first word", () => stage.journal("work").some(({ type }) => type === "update"));
    const pid = await stage.agentPid();
    await host.end("SIGKILL");
    const { code, stderr } = await stage.run(["status"]);
    expect(code).toBe(4);
    expect(stderr).toContain(`Agents work on without one: demo (pid ${pid}, keeper ${stage.keeperPids()[0]})`);
    expect(stderr).toContain("holdfast stop --agents ends them");
  }),
  60_000,
);

test(
  "[CM3] [ID6] stop names an agent that stays because a session of it is pinned, and stop --agents ends it",
  withAgents(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).code).toBe(0);
    expect((await stage.run(["keep", "work"])).code).toBe(0);
    const { code, stderr } = await stage.run(["stop"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/Agent demo stays \(session work: kept: .*\); holdfast stop --agents ends it/);
    expect(stage.keeperPids().length).toBe(1);
    const all = await stage.run(["stop", "--agents", "--json"]);
    expect(JSON.parse(all.stdout)).toMatchObject({ pinned: [], left: [] });
    expect(stage.keeperPids()).toEqual([]);
  }),
  60_000,
);

test(
  "[CM3] [HO5] plugin js on the port of another program ends with 4 and names it; while nobody is there it waits",
  staged(async (stage) => {
    const early = stage.spawn(["plugin", "js", "--json"]);
    await early.event("started");
    const other = Bun.serve({
      hostname: "127.0.0.1",
      port: stage.port,
      fetch: () => new Response("<h1>It works</h1>"),
    });
    try {
      expect(await early.exited).toEqual({ code: 4, signal: null });
      const late = await stage.run(["plugin", "js"]);
      expect(late.code).toBe(4);
      expect(late.stderr).toContain(`Port ${stage.port} is held by process ${process.pid}`);
      expect(late.stderr).toContain("--port");
    } finally {
      await other.stop(true);
    }
  }),
  60_000,
);

test(
  "[CM3] [AM2] acp for an agent that nobody knows ends with 3 at once, and starts no host",
  withAgents(async (stage) => {
    const { code, stderr } = await stage.run(["acp", "demos"]);
    expect(code).toBe(3);
    expect(stderr).toContain('There is no agent "demos"; did you mean "demo"?');
    expect(stage.processes()).toEqual([]);
  }),
  60_000,
);

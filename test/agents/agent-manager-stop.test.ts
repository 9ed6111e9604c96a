// How does the manager end agents? By one ladder, all in parallel, and whatever was under way ends with them.
import { describe, expect, test } from "bun:test";
import { endProcess } from "../../src/keeper/ladder.ts";
import { messageOf } from "../../src/protocol/fault.ts";
import { createMachine } from "../support/fake-world.ts";
import { createFakeAgents, type FakeAgent, type FakeAgentOptions } from "./fake-agent.ts";
import { CLAUDE, openManager } from "./manager-world.ts";

function climb(options: FakeAgentOptions, prepare: (agent: FakeAgent) => void = () => {}) {
  const machine = createMachine();
  const agents = createFakeAgents(options);
  const started = agents.spawn(
    { agent: "a", run: "r", command: "agent", args: [], env: {}, cwd: "/" },
    { output() {} },
  );
  if (started.kind === "missing") throw new Error("It is there");
  prepare(agents.latest);
  machine.wait(endProcess(machine.process().clock, started.process));
  return { ms: machine.now, done: agents.latest.done };
}

describe("the ladder", () => {
  test("[AM7] an agent that leaves when its stdin closes is not signalled before, and its group and tag are cleared", () => {
    expect(climb({})).toEqual({ ms: 0, done: ["EOF", "SIGKILL", "sweep"] });
  });

  test("[AM7] one that ignores the end of its stdin gets SIGTERM after 5 s", () => {
    const { ms, done } = climb({ ignores: ["EOF"] });
    expect(ms).toBe(5_000);
    expect(done).toEqual(["EOF", "SIGTERM", "SIGKILL", "sweep"]);
  });

  test("[AM7] one that ignores SIGTERM too gets SIGKILL 2 s later", () => {
    const { ms, done } = climb({ ignores: ["EOF", "SIGTERM"] });
    expect(ms).toBe(7_000);
    expect(done.slice(0, 3)).toEqual(["EOF", "SIGTERM", "SIGKILL"]);
    expect(done.at(-1)).toBe("sweep");
  });

  test("[AM7] the sweep goes on until nothing carries the tag", () => {
    const { done } = climb({}, (agent) => {
      agent.leftovers = 3;
    });
    expect(done.filter((what) => what === "sweep")).toHaveLength(4);
  });
});

describe("stop", () => {
  test("[AM7] shutdownAll ends all agents in parallel by the ladder, with status idle and no reconnects", () => {
    const { manager, machine, agents, statuses, told } = openManager({ ignores: ["EOF", "SIGTERM"] });
    machine.wait(Promise.all([CLAUDE, "codex", "gemini"].map((name) => manager.ensureAgent(name))));
    const from = machine.now;
    machine.wait(manager.shutdownAll());
    expect(machine.now - from).toBe(7_000);
    expect(agents.running).toEqual([]);
    expect([CLAUDE, "codex", "gemini"].map((name) => manager.getStatus(name))).toEqual(["idle", "idle", "idle"]);
    expect(statuses).toEqual(["starting", "connected", "idle"]);
    machine.advance(600_000);
    expect(agents.all).toHaveLength(3);
    expect(told.some(({ status }) => status === "reconnecting")).toBe(false);
  });

  test("[AM7] shutdownAll cancels a wait, and nothing is started later", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    agents.latest.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    machine.wait(manager.shutdownAll());
    machine.advance(600_000);
    expect(agents.all).toHaveLength(1);
    expect(manager.getStatus(CLAUDE)).toBe("idle");
  });

  test("[AM7] shutdownAll does not wait for a handshake: its process goes by the ladder, and whoever waited is told", () => {
    const { manager, machine, agents, errors } = openManager({ replies: { initialize: () => undefined } });
    const ensured = manager.ensureAgent(CLAUDE).catch(messageOf);
    machine.advance(10);
    const from = machine.now;
    machine.wait(manager.shutdownAll());
    expect(machine.now - from).toBeLessThan(1_000);
    expect(agents.running).toEqual([]);
    expect(machine.wait(ensured)).toContain("stopped");
    expect(manager.getStatus(CLAUDE)).toBe("idle");
    expect(errors).toEqual([]);
  });

  test("[AM7] shutdownAll during a retry leaves no timer that starts an agent", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    agents.options = { replies: { initialize: () => undefined } };
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 2);
    machine.wait(manager.shutdownAll());
    machine.advance(600_000);
    expect(agents.all).toHaveLength(2);
    expect(manager.getStatus(CLAUDE)).toBe("idle");
  });

  test("[AM7] an agent that was stopped for idleness is started again when it is wanted, after the old one is gone", () => {
    const { manager, machine, agents } = openManager({ ignores: ["EOF"] });
    machine.wait(manager.ensureAgent(CLAUDE));
    const stopped = manager.stop(CLAUDE);
    machine.advance(100);
    const ensured = manager.ensureAgent(CLAUDE);
    machine.advance(4_000);
    expect(agents.all).toHaveLength(1);
    machine.wait(Promise.all([stopped, ensured]));
    expect(agents.all.map(({ alive }) => alive)).toEqual([false, true]);
    expect(manager.getStatus(CLAUDE)).toBe("connected");
  });

  test("[AM7] [AC2] whoever ends it, the exit of a connected agent is told with its client", () => {
    const { manager, machine, exits } = openManager();
    const client = machine.wait(manager.ensureAgent(CLAUDE));
    const prompt = client.prompt("acp-1", []).catch(messageOf);
    machine.wait(manager.stop(CLAUDE));
    expect(machine.wait(prompt)).toBe("Claude Code exited with code 0");
    expect(exits).toHaveLength(1);
    expect(exits[0]?.client).toBe(client);
  });

  test("[AM8] the last lines of stderr can be asked for while it runs and after its death", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    agents.latest.stderr = ["Out of memory"];
    expect(manager.stderr(CLAUDE)).toEqual(["Out of memory"]);
    agents.latest.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    expect(manager.stderr(CLAUDE)).toEqual(["Out of memory"]);
  });
});

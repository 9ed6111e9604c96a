// What does the manager do when an agent dies? It tells it once, waits longer each time, and gives up a crash loop.
import { describe, expect, test } from "bun:test";
import { messageOf } from "../../src/protocol/fault.ts";
import { initialized } from "./fake-agent.ts";
import { CLAUDE, type ManagerWorld, openManager } from "./manager-world.ts";

const connected = (world: ManagerWorld): ManagerWorld => {
  world.machine.wait(world.manager.ensureAgent(CLAUDE));
  world.statuses.length = 0;
  return world;
};

/** How long until the next process, in virtual ms. */
const nextStart = ({ machine, agents }: ManagerWorld): number => {
  const from = machine.now;
  const before = agents.all.length;
  machine.until(() => agents.all.length > before);
  return machine.now - from;
};

describe("death", () => {
  test("[AM4] an exit clears the references, is told as disconnected and then reconnecting, and a process starts after 1 s", () => {
    const world = connected(openManager());
    const { manager, machine, agents, statuses } = world;
    agents.latest.exit(1);
    machine.until(() => statuses.length === 2);
    expect(statuses).toEqual(["disconnected", "reconnecting"]);
    expect(manager.current(CLAUDE)).toBeUndefined();
    expect(manager.pid(CLAUDE)).toBeUndefined();
    expect(nextStart(world)).toBe(1_000);
    machine.until(() => manager.getStatus(CLAUDE) === "connected");
    expect(statuses).toEqual(["disconnected", "reconnecting", "connected"]);
  });

  test("[AM4] the death of one process is told once, and is one attempt", () => {
    const world = connected(openManager());
    const { machine, agents, exits, statuses } = world;
    agents.latest.exit(null, "SIGKILL");
    agents.latest.exit(1);
    machine.until(() => statuses.includes("reconnecting"));
    expect(exits.map(({ exit }) => exit)).toEqual([{ code: null, signal: "SIGKILL" }]);
    expect(nextStart(world)).toBe(1_000);
  });

  test("[AM4] [AM5] an agent that dies right after each handshake comes back after 1, 2, 4, 8, 16 s and then no more", () => {
    const world = connected(openManager());
    const { manager, machine, agents, statuses } = world;
    const waits: number[] = [];
    for (let death = 0; death < 5; death++) {
      agents.latest.exit(1);
      machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
      waits.push(nextStart(world));
      machine.until(() => manager.getStatus(CLAUDE) === "connected");
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    statuses.length = 0;
    agents.latest.exit(1);
    machine.advance(600_000);
    expect(statuses).toEqual(["disconnected"]);
    expect(agents.all).toHaveLength(6);
  });

  test("[AM4] retries that fail keep the status at reconnecting, and the fifth failure is the last", () => {
    const world = connected(openManager());
    const { manager, machine, agents, statuses, errors } = world;
    agents.options = { replies: { initialize: () => ({ error: { code: -32603, message: "broken" } }) } };
    agents.latest.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    const started = machine.now;
    machine.until(() => manager.getStatus(CLAUDE) === "disconnected", 200_000);
    expect(machine.now - started).toBe(31_000);
    expect(statuses).toEqual(["disconnected", "reconnecting", "disconnected"]);
    expect(agents.all).toHaveLength(6);
    expect(errors).toHaveLength(5);
    machine.advance(600_000);
    expect(agents.all).toHaveLength(6);
  });

  test("[AM5] a connection that held for 10 s counts from the beginning again, one of 9.999 s does not", () => {
    const world = connected(openManager());
    const { manager, machine, agents } = world;
    const dieAfter = (ms: number): number => {
      machine.advance(ms);
      agents.latest.exit(1);
      machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
      const wait = nextStart(world);
      machine.until(() => manager.getStatus(CLAUDE) === "connected");
      return wait;
    };
    expect([dieAfter(0), dieAfter(9_999), dieAfter(9_999), dieAfter(10_000)]).toEqual([1_000, 2_000, 4_000, 1_000]);
  });

  test("[AC2] everything pending rejects with the exit as its reason", () => {
    const { manager, machine, agents } = connected(openManager());
    const asked = [
      machine.wait(manager.ensureAgent(CLAUDE)).prompt("acp-1", []),
      machine.wait(manager.ensureAgent(CLAUDE)).prompt("acp-2", []),
    ].map((each) => each.catch(messageOf));
    agents.latest.exit(7);
    expect(machine.wait(Promise.all(asked), 0)).toEqual([
      "Claude Code exited with code 7",
      "Claude Code exited with code 7",
    ]);
  });

  test("[AM7] what a dead agent left behind is swept before the next one starts", () => {
    const { machine, agents } = connected(openManager());
    const [dead] = agents.all;
    if (!dead) throw new Error("No agent");
    dead.leftovers = 200;
    dead.exit(1);
    machine.advance(1_999);
    expect(agents.all).toHaveLength(1);
    machine.advance(2);
    expect(agents.all).toHaveLength(2);
    expect(dead.done.filter((what) => what === "sweep")).toHaveLength(201);
  });
});

describe("asked during the wait", () => {
  test("[AM6] ensureAgent starts now instead of waiting, still as one process, and the attempt still counts", () => {
    const world = connected(openManager());
    const { manager, machine, agents, statuses } = world;
    agents.latest.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    const from = machine.now;
    const asked = [manager.ensureAgent(CLAUDE), manager.ensureAgent(CLAUDE)];
    machine.wait(Promise.all(asked));
    expect(machine.now - from).toBeLessThan(1_000);
    expect(statuses).toEqual(["disconnected", "reconnecting", "connected"]);
    machine.advance(5_000);
    expect(agents.all).toHaveLength(2);
    agents.latest.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    expect(nextStart(world)).toBe(2_000);
  });

  test("[AM6] reconnect cancels the wait, says reconnecting, spawns at once, and counts from 0", () => {
    const world = connected(openManager());
    const { manager, machine, agents } = world;
    for (let death = 0; death < 3; death++) {
      agents.latest.exit(1);
      machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
      if (death < 2) machine.until(() => manager.getStatus(CLAUDE) === "connected");
    }
    const from = machine.now;
    machine.wait(manager.reconnect(CLAUDE));
    expect(machine.now - from).toBeLessThan(1_000);
    machine.advance(5_000);
    expect(agents.all).toHaveLength(4);
    agents.latest.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    expect(nextStart(world)).toBe(1_000);
  });

  test("[AM6] reconnect brings back an agent that was given up", () => {
    const { manager, machine, agents, statuses } = openManager({ missing: true });
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow();
    agents.options = {};
    statuses.length = 0;
    machine.wait(manager.reconnect(CLAUDE));
    expect(statuses).toEqual(["reconnecting", "connected"]);
  });

  test("[AM6] reconnect of a running agent ends its process before it starts the next", () => {
    const { manager, machine, agents, statuses } = connected(openManager());
    machine.wait(manager.reconnect(CLAUDE));
    expect(statuses).toEqual(["reconnecting", "connected"]);
    expect(agents.all.map(({ alive }) => alive)).toEqual([false, true]);
    expect(agents.all[0]?.done).toEqual(["EOF", "SIGKILL", "sweep"]);
  });

  test("[AM6] whoever asks while reconnect ends the old process waits for the new one", () => {
    const { manager, machine, agents } = connected(openManager({ ignores: ["EOF"] }));
    const again = manager.reconnect(CLAUDE);
    machine.advance(1_000);
    const ensured = manager.ensureAgent(CLAUDE);
    machine.wait(Promise.all([again, ensured, manager.reconnect(CLAUDE)]));
    expect(agents.all).toHaveLength(2);
    expect(agents.running).toHaveLength(1);
    expect(machine.wait(ensured)).toBe(machine.wait(manager.ensureAgent(CLAUDE)));
  });

  test("[AM6] reconnect during a start joins it: one process, counted from 0", () => {
    const { manager, machine, agents } = openManager({ replies: { initialize: () => undefined } });
    const ensured = manager.ensureAgent(CLAUDE);
    machine.advance(10);
    const again = manager.reconnect(CLAUDE);
    machine.advance(10);
    expect(agents.all).toHaveLength(1);
    expect(manager.getStatus(CLAUDE)).toBe("reconnecting");
    agents.latest.answer("initialize", initialized() ?? { result: {} });
    machine.wait(Promise.all([ensured, again]));
    expect(agents.running).toHaveLength(1);
  });
});

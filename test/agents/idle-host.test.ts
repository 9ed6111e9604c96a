// Does a background host stay while its agents are needed, and end when nobody is?
import { expect, test } from "bun:test";
import { BUILT_IN } from "../../src/agents/definitions.ts";
import { createAgentService } from "../../src/agents/service.ts";
import { endWhenIdle } from "../../src/bridge/idle-end.ts";
import { takeGeneration } from "../../src/platform/generation.ts";
import type { AgentRequest } from "../../src/protocol/agents.ts";
import { open } from "../support/bridges.ts";
import { createMachine } from "../support/fake-world.ts";
import { createFakeAgents } from "./fake-agent.ts";
import { AGENT, HOUR, MINUTE, openIdleWorld, SECOND } from "./idle-world.ts";

function openHost(idle: { idleTimeoutMs: number; maxIdleMs: number; staleOutputMs: number }) {
  const machine = createMachine();
  const process = machine.process();
  const agents = createFakeAgents();
  let endedAt: number | undefined;
  const host = open(machine, {
    process,
    mode: "host",
    background: true,
    own: { idle },
    listener: {
      idle() {
        endedAt ??= machine.now;
      },
    },
    service: (_port, needs) =>
      createAgentService({
        ...process.world,
        ...needs,
        generation: takeGeneration(machine.files, process.clock, "/state"),
        directory: "/state",
        definitions: BUILT_IN,
        spawn: agents.spawn,
        which: () => true,
      }),
  });
  const command = (...requests: AgentRequest[]): void => {
    const { bridge } = open(machine, { mode: "command" });
    for (const request of requests) machine.wait(bridge.askAgents(request));
    machine.wait(bridge.disconnect());
    machine.advance(1);
  };
  const says = () => machine.wait(host.bridge.status()).endsWhenIdle;
  return { machine, agents, command, says, endedAt: () => endedAt };
}

const LIMITS = { idleTimeoutMs: 5 * MINUTE, maxIdleMs: 30 * MINUTE, staleOutputMs: 10 * MINUTE };
const prompt = (detach: boolean): AgentRequest => ({
  verb: "prompt",
  agent: AGENT,
  session: "work",
  cwd: "/w",
  text: "go",
  policy: "deny",
  promptId: "prompt 1",
  detach,
  env: {},
});
const finish = { result: { stopReason: "end_turn" } };

test("[ID13] a host whose agent works stays without clients and plugins, and says why", () => {
  const { machine, command, says, endedAt } = openHost(LIMITS);
  command(prompt(true));
  machine.advance(3 * HOUR);
  expect([endedAt(), says()]).toEqual([undefined, "kept: clients 0, plugins 0, agents 1"]);
});

test("[ID13] it ends when the agent's last session has gone and its own idle time is over", () => {
  const { machine, agents, command, says, endedAt } = openHost(LIMITS);
  command(prompt(true));
  machine.advance(6 * MINUTE);
  agents.latest.answer("session/prompt", finish);
  const over = machine.now;
  machine.advance(5 * MINUTE + SECOND);
  expect(agents.running).toEqual([]);
  expect(says()).toMatch(/^ends in (299|300) s: no clients, no plugins, no agents$/);
  machine.advance(5 * MINUTE);
  expect((endedAt() ?? 0) - over).toBeWithin(10 * MINUTE, 10 * MINUTE + SECOND);
});

test("[ID13] a pinned session keeps its host", () => {
  const { machine, agents, command, endedAt } = openHost(LIMITS);
  command(prompt(false), { verb: "keep", session: "work", forMs: null });
  agents.latest.answer("session/prompt", finish);
  machine.advance(24 * HOUR);
  expect([endedAt(), agents.running.length]).toEqual([undefined, 1]);
});

test("[ID13] a closed session keeps nobody: agent and host go after one idle time", () => {
  const { machine, agents, command, endedAt } = openHost(LIMITS);
  command(prompt(false));
  agents.latest.answer("session/prompt", finish);
  command({ verb: "close", session: "work" });
  const left = machine.now;
  machine.advance(5 * MINUTE + SECOND);
  expect((endedAt() ?? 0) - left).toBeWithin(5 * MINUTE - SECOND, 5 * MINUTE + SECOND);
  expect(agents.running).toEqual([]);
});

test("[ID13] the numbers are the host's settings", () => {
  const { machine, agents, command, endedAt } = openHost({ idleTimeoutMs: 2_000, maxIdleMs: 0, staleOutputMs: 500 });
  command(prompt(false));
  agents.latest.answer("session/prompt", finish);
  machine.advance(2 * SECOND);
  expect(agents.running).toEqual([]);
  machine.advance(3 * SECOND);
  expect(endedAt()).toBeDefined();
});

test("[ID7] [ID13] a host that slept does not end at waking", () => {
  const machine = createMachine();
  const process = machine.process();
  let ended = false;
  const idle = () => {
    ended = true;
  };
  open(machine, { process, mode: "host", background: true, own: { idle: LIMITS }, listener: { idle } });
  process.freeze();
  machine.advance(8 * HOUR);
  process.thaw();
  machine.advance(4 * MINUTE);
  expect(ended).toBe(false);
  machine.advance(MINUTE + SECOND);
  expect(ended).toBe(true);
});

test("[ID13] a host that leaves does not begin to count again", () => {
  const machine = createMachine();
  const ends: number[] = [];
  const alone = () => ({ clients: 0, sessions: 0 });
  const idleEnd = endWhenIdle(machine.process().clock, LIMITS, alone, () => void ends.push(machine.now));
  idleEnd.cancel();
  idleEnd.touch();
  machine.advance(HOUR);
  expect(ends).toEqual([]);
});

test("[ID13] company counts agents, not sessions, and each change is told", () => {
  const world = openIdleWorld();
  expect(world.service.company()).toBe(0);
  world.prompt("one");
  world.prompt("two", { session: "other" });
  world.prompt("three", { session: "third", agent: "codex" });
  expect(world.service.company()).toBe(2);
  const before = world.companyChanges;
  for (const text of ["one", "two", "three"]) world.finish(text);
  world.machine.advance(6 * MINUTE);
  expect(world.service.company()).toBe(0);
  expect(world.companyChanges).toBeGreaterThan(before);
});

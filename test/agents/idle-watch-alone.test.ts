// What does the watch do by itself, whatever its guards are? One that fails is logged, and stops nothing sooner.
import { expect, test } from "bun:test";
import { createIdleWatch } from "../../src/agents/idle-watch.ts";
import { openJournal } from "../../src/agents/journal.ts";
import { AgentSession } from "../../src/agents/session.ts";
import type { IdleGuard, Verdict } from "../../src/core/idle.ts";
import type { IdleState } from "../../src/core/idle-guards.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { createMachine } from "../support/fake-world.ts";
import { HOUR, MINUTE, SECOND } from "./idle-world.ts";

function setUp(guard: IdleGuard<IdleState>) {
  const machine = createMachine();
  const { world, log } = machine.process();
  const { clock } = world;
  const journal = openJournal(machine.files.journal("/j"), () => clock.iso());
  const options = { name: "work", agent: "a", displayName: "A", cwd: "/" };
  const left: number[] = [];
  const agentStops: string[] = [];
  const watch = createIdleWatch({
    ...world,
    limits: () => DEFAULT_SETTINGS.idle,
    sessions: () => [],
    isOpen: () => true,
    async leaveAgent() {
      left.push(machine.now);
    },
    isRunning: () => false,
    stopAgent: async (agent) => void agentStops.push(agent),
    changed() {},
    guards: () => [guard],
  });
  const session = new AgentSession(options, {
    clock,
    now: watch.now,
    since: watch.since,
    journal,
    ready: () => Promise.reject(new Error("There is no agent")),
    forgotten() {},
    changed: watch.changed,
  });
  watch.unwatched(session);
  return { machine, log, watch, session, left, agentStops };
}

test("[ID5] a guard that throws is logged and keeps for 5 minutes; then a grace, then the end", () => {
  const guard: IdleGuard<IdleState> = {
    name: "broken",
    shouldKeepAlive() {
      throw new Error("no idea");
    },
  };
  const { machine, log, watch, session, left } = setUp(guard);
  expect(watch.info(session).reason).toBe('kept: unknown: the guard "broken" failed');
  machine.advance(5 * MINUTE);
  expect(log.filter(({ level }) => level === "warn")).not.toBeEmpty();
  expect(log.at(-1)).toMatchObject({ message: 'The idle guard "broken" failed', data: { why: "no idea" } });
  expect(watch.info(session).verdict).toBe("kept");
  machine.advance(30 * SECOND);
  expect(watch.info(session).verdict).toBe("stops");
  expect(left).toEqual([]);
  machine.advance(5 * MINUTE);
  expect(left).toEqual([10.5 * MINUTE]);
});

test("[ID5] one that works again is forgiven: the five minutes begin anew", () => {
  let broken = true;
  const guard: IdleGuard<IdleState> = {
    name: "moody",
    shouldKeepAlive() {
      if (broken) throw new Error("no idea");
      return { keep: true, reason: "work" };
    },
  };
  const { machine, watch, session, left } = setUp(guard);
  machine.advance(4 * MINUTE);
  broken = false;
  machine.advance(6 * MINUTE);
  expect(watch.info(session).reason).toBe("kept: work");
  broken = true;
  machine.advance(5 * MINUTE);
  expect(watch.info(session).reason).toBe('kept: unknown: the guard "moody" failed');
  expect(left).toEqual([]);
});

test("[ID8] the watch itself takes a second leaving for none, and stops no agent that does not run", () => {
  const { machine, watch, session, left, agentStops } = setUp({ name: "no", shouldKeepAlive: () => ({ keep: false }) });
  machine.advance(4 * MINUTE);
  watch.unwatched(session);
  machine.advance(MINUTE);
  expect(left).toEqual([5 * MINUTE]);
  expect(agentStops).toEqual([]);
});

test("[GD2] work that began in a grace and stalled goes as stalled, and not in the words of the grace", () => {
  const stalled: Verdict = { keep: false, reason: "stalled", grace: false };
  let verdict: Verdict = { keep: true, reason: "turn" };
  const { machine, watch, session, left } = setUp({ name: "turn", shouldKeepAlive: () => verdict });
  const become = (next: Verdict): void => {
    verdict = next;
    watch.changed(session);
  };
  machine.advance(MINUTE);
  become({ keep: false });
  expect(watch.info(session).reason).toBe("stops in 5 m: grace after turn");
  machine.advance(MINUTE);
  become({ keep: true });
  machine.advance(MINUTE);
  verdict = stalled;
  expect(watch.info(session).reason).toBe("stops in 3 m: stalled");
  machine.advance(3 * MINUTE);
  expect(left).toEqual([6 * MINUTE]);
});

test("[ID5] the cap holds for what nobody knows", () => {
  let at = 0;
  const guard: IdleGuard<IdleState> = {
    name: "now and then",
    shouldKeepAlive() {
      if (at++ % 2 === 0) throw new Error("no idea");
      return { keep: true };
    },
  };
  const { machine, left } = setUp(guard);
  machine.advance(HOUR);
  expect(left).toEqual([30 * MINUTE + 1]);
});

// When does a background host end by itself? By the same function as everything idle: no clients, no plugins, no agents.
import { type Awake, awakeAt, nextTick } from "../core/awake.ts";
import { checkIdle, type IdleGuard } from "../core/idle.ts";
import type { Clock } from "../platform/world.ts";
import type { IdleLimits } from "../protocol/settings.ts";

export interface Company {
  clients: number;
  sessions: number;
  /** Agents that are attached to, working or kept. */
  agents?: number;
}

interface Alone extends Company {
  lastCompanyAt: number;
}

const createCompanyGuard = (idleTimeoutMs: number): IdleGuard<Alone> => ({
  name: "company",
  shouldKeepAlive({ clients, sessions, agents = 0, lastCompanyAt }, now) {
    if (clients + sessions + agents > 0) {
      const reason = `kept: clients ${clients}, plugins ${sessions}, agents ${agents}`;
      return { keep: true, reason, recheckMs: idleTimeoutMs + 1 };
    }
    const leftMs = idleTimeoutMs - (now - lastCompanyAt);
    const reason = `ends in ${Math.max(0, Math.ceil(leftMs / 1000))} s: no clients, no plugins, no agents`;
    return { keep: leftMs >= 0, reason, recheckMs: leftMs + 1, grace: false };
  },
});

export interface IdleEnd {
  /** Somebody came or left. */
  touch(): void;
  describe(): string;
  cancel(): void;
}

export function endWhenIdle(clock: Clock, limits: IdleLimits, company: () => Company, end: () => void): IdleEnd {
  // No cap: company is work, however long it stays.
  const uncapped = { ...limits, maxIdleMs: 0 };
  const guard = createCompanyGuard(limits.idleTimeoutMs);
  let awake: Awake = { sumMs: 0, since: clock.elapsed(), plannedMs: 0 };
  let lastCompanyAt = 0;
  let cancel = (): void => {};
  let over = false;
  const now = (): number => awakeAt(awake, clock.elapsed());
  const judge = () => checkIdle(lastCompanyAt, false, [guard], { ...company(), lastCompanyAt }, uncapped, now());
  const check = (): void => {
    const verdict = judge();
    if (verdict.action === "kill") return end();
    awake = nextTick(awake, clock.elapsed(), now() + verdict.delayMs);
    cancel = clock.after(awake.plannedMs, check);
  };
  const touch = (): void => {
    if (over) return;
    lastCompanyAt = now();
    cancel();
    check();
  };
  touch();
  return {
    touch,
    describe: () => judge().reason,
    cancel() {
      over = true;
      cancel();
    },
  };
}

// When does a background host end by itself? By the same function as everything idle: no clients, no plugins.
import { checkIdle, type IdleGuard } from "../core/idle.ts";
import type { Clock } from "../platform/world.ts";
import type { IdleLimits } from "../protocol/settings.ts";

export interface Company {
  clients: number;
  sessions: number;
}

interface Alone extends Company {
  lastCompanyAt: number;
}

const createCompanyGuard = (idleTimeoutMs: number): IdleGuard<Alone> => ({
  name: "company",
  shouldKeepAlive({ clients, sessions, lastCompanyAt }, now) {
    if (clients + sessions > 0) {
      return { keep: true, reason: `kept: clients ${clients}, plugins ${sessions}`, recheckMs: idleTimeoutMs + 1 };
    }
    const leftMs = idleTimeoutMs - (now - lastCompanyAt);
    const reason = `ends in ${Math.max(0, Math.ceil(leftMs / 1000))} s: no clients, no plugins`;
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
  let lastCompanyAt = clock.elapsed();
  let cancel = (): void => {};
  const judge = () =>
    checkIdle(lastCompanyAt, false, [guard], { ...company(), lastCompanyAt }, uncapped, clock.elapsed());
  const check = (): void => {
    const verdict = judge();
    if (verdict.action === "kill") return end();
    cancel = clock.after(verdict.delayMs, check);
  };
  const touch = (): void => {
    lastCompanyAt = clock.elapsed();
    cancel();
    check();
  };
  touch();
  return { touch, describe: () => judge().reason, cancel: () => cancel() };
}

// Is a peer that says nothing still there? Only time that we were awake ourselves counts.

export const PULSE_MS = 5_000;
const PING_EACH_PULSES = 3;
const STALE_MS = 45_000;
const GONE_MS = 60_000;

export type Liveness = "alive" | "stale" | "gone";

export const livenessOf = (silentMs: number): Liveness =>
  silentMs >= GONE_MS ? "gone" : silentMs >= STALE_MS ? "stale" : "alive";

export const isPingPulse = (pulse: number): boolean => pulse % PING_EACH_PULSES === 0;

/** How much of the time between two pulses counts: a machine that slept, or a process that was stopped, adds one pulse. */
export const awakeMs = (passedMs: number): number => Math.min(passedMs, PULSE_MS);

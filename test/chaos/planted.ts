// What do the tests of chaos plant? A command and a fault, at a time that never changes.
import type { Command, FaultDone } from "./history.ts";

export const AT = "2026-01-01T12:00:00.000Z";
export const AT_NOON = Date.parse(AT);

export const command = (kind: string, code: number | null, more: Partial<Command> = {}): Command => ({
  id: 1,
  kind,
  words: [kind],
  pid: 7,
  at: AT_NOON,
  endedAt: AT_NOON + 100,
  about: {},
  code,
  signal: null,
  out: "",
  err: "",
  events: [],
  told: [],
  ...more,
});
export const fault = (what: string, more: Partial<FaultDone> = {}): FaultDone => ({
  at: AT_NOON,
  until: AT_NOON,
  name: "x",
  what,
  ...more,
});

// What does an exit code tell a script?
import { Fault } from "../protocol/fault.ts";
import { pairs } from "./layout.ts";

export const EXIT_CODES = {
  0: "Done",
  1: "The work failed (script error, task failed, refusal, cancelled by another client)",
  2: "Usage or config",
  3: "Not found or ambiguous (session, agent)",
  4: "Host unreachable or port held",
  5: "Connection or agent lost, outcome unknown",
  6: "Timeout",
  7: "Not permitted (login, token, 401/403)",
  8: "Browser endpoints exhausted",
  9: "A limit was reached (iterations, errors, max_tokens, max_turn_requests)",
  130: "Interrupted by one's own signal",
} as const;

export const exitCodesHelp = (): string =>
  ["Exit codes:", ...pairs(Object.entries(EXIT_CODES).map(([code, says]) => [code.padStart(3), says])), ""].join("\n");

/** Whatever was thrown: a fault knows its code, anything else is a bug and means the work failed. */
export const exitCodeOf = (thrown: unknown): number => (thrown instanceof Fault ? thrown.exitCode : 1);

// Is this value what the argument asks for? Yields what `run` gets, or says which part is wrong.
import type { ArgumentRule } from "./argument.ts";

export type Checked = { kind: "right"; value: unknown } | { kind: "wrong"; part: unknown };

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
export const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
// A timer set beyond 31 bits of milliseconds fires at once.
const LONGEST_MS = 596 * UNITS.h;

function milliseconds(given: unknown): number {
  if (typeof given === "number") return Math.round(given * UNITS.s);
  const [, amount, unit = "s"] = (typeof given === "string" && DURATION.exec(given)) || [];
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

const right = (value: unknown): Checked => ({ kind: "right", value });
const when = (fits: boolean, value: unknown): Checked => (fits ? right(value) : { kind: "wrong", part: value });

export function checkValue(rule: ArgumentRule, given: unknown): Checked {
  switch (rule.kind) {
    case "text":
      return when(typeof given === "string" && (rule.pattern?.test(given) ?? true), given);
    case "choice":
      return when(
        rule.choices.some((word) => word === given),
        given,
      );
    case "switch":
      return when(typeof given === "boolean", given);
    case "number": {
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule;
      const is = rule.whole ? Number.isSafeInteger(given) : Number.isFinite(given);
      return when(is && Number(given) >= min && Number(given) <= max, given);
    }
    case "list": {
      if (!Array.isArray(given)) return { kind: "wrong", part: given };
      const fits = (item: unknown) => typeof item === "string" && (rule.choices?.includes(item) ?? true);
      const odd = given.findIndex((item) => !fits(item));
      return odd === -1 ? right(given) : { kind: "wrong", part: given[odd] };
    }
    case "duration": {
      const ms = milliseconds(given);
      return ms >= 0 && ms <= LONGEST_MS ? right(ms) : { kind: "wrong", part: given };
    }
    case "optionalValue":
      return when(given === true || (typeof given === "string" && given !== ""), given);
  }
}

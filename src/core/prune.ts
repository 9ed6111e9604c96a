// Which journals may go? The too old ones, then the oldest while all together is too much; never one in use.
import { TUNABLES } from "../protocol/tunables.ts";

export interface PruneLimits {
  maxAgeMs: number;
  maxBytes: number;
}

/** As the config file says, else by default. */
export const retentionOf = (
  config: Partial<Record<"JOURNAL_MAX_AGE_MS" | "JOURNAL_MAX_BYTES", number | undefined>>,
) => ({
  maxAgeMs: config.JOURNAL_MAX_AGE_MS ?? TUNABLES.JOURNAL_MAX_AGE_MS.defaultValue,
  maxBytes: config.JOURNAL_MAX_BYTES ?? TUNABLES.JOURNAL_MAX_BYTES.defaultValue,
});

export interface Kept {
  name: string;
  bytes: number;
  modifiedAt: number;
}

export function toPrune(
  all: readonly Kept[],
  { maxAgeMs, maxBytes }: PruneLimits,
  inUse: ReadonlySet<string>,
  now: number,
): Kept[] {
  const oldestFirst = [...all].sort((left, right) => left.modifiedAt - right.modifiedAt);
  let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
  return oldestFirst.filter(({ name, bytes, modifiedAt }) => {
    const goes = !inUse.has(name) && (now - modifiedAt > maxAgeMs || total > maxBytes);
    if (goes) total -= bytes;
    return goes;
  });
}

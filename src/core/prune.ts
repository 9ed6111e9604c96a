// Which journals may go? The too old ones, then the oldest while all together is too much; never one in use.

export interface PruneLimits {
  maxAgeMs: number;
  maxBytes: number;
}

export const RETENTION: PruneLimits = { maxAgeMs: 30 * 24 * 3_600_000, maxBytes: 1024 ** 3 };

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

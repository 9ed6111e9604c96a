// What is the middle of these numbers, and how bad is the worst? Nearest rank: every value told was measured.

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error("There is nothing to take a percentile of");
  return value;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

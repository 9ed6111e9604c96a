// How is a time span told to a person? "4 s", "3 m 12 s", "1 h 20 m": two units at most.

const SECOND = 1_000;
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ["d", 24 * 60 * 60 * SECOND],
  ["h", 60 * 60 * SECOND],
  ["m", 60 * SECOND],
  ["s", SECOND],
];

/** What has passed: no more than did. */
export function span(ms: number): string {
  if (ms > 0 && ms < SECOND) return `${Math.floor(ms)} ms`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first < 0) return "0 s";
  let left = ms;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count > 0 ? `${count} ${unit}` : "";
  });
  return parts.filter(Boolean).join(" ");
}

/** What is still to come: no less than will. */
export const spanAhead = (ms: number): string => span(Math.ceil(Math.max(0, ms) / SECOND) * SECOND);

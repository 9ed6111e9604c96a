// What of an agent's words stands on record? Of each of its lives, up to where.

export interface Source {
  /** Which life of the agent process. */
  run: string;
  offset: number;
}

const KNOWN_RUNS = 4;

type Heard = { heard?: Source[] };

/** While one life ends the next has begun: what the old one says last is known by its own place. */
export function noticeSource(fold: Heard, { run, offset }: Source): void {
  const last = fold.heard?.at(-1);
  // Nearly always: this runs for every word.
  if (last?.run === run) last.offset = offset;
  else fold.heard = [...(fold.heard ?? []).filter((each) => each.run !== run), { run, offset }].slice(-KNOWN_RUNS);
}

/** Up to where what this life of the agent said stands on record; -1: nothing. */
export const heardUpTo = ({ heard = [] }: Readonly<Heard>, run: string): number =>
  heard.find((each) => each.run === run)?.offset ?? -1;

/** Heard by an earlier host, and written down. */
export const isOnRecord = (fold: Readonly<Heard>, { run, offset }: Source): boolean =>
  (fold.heard ?? []).some((each) => each.run === run) && offset <= heardUpTo(fold, run);

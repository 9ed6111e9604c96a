// What did they mean to type?

/** Damerau–Levenshtein: insert, delete, replace, or swap two neighbours. */
export function distance(left: string, right: string): number {
  let twoAgo: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const at = (line: number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY;
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
        swapped ? at(twoAgo, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [twoAgo, previous] = [previous, current];
  }
  return previous[right.length] ?? 0;
}

const bare = (word: string): string => word.toLowerCase().replace(/^-+/, "");

/** The nearest candidate within two slips (one in a short word), else the only one that begins so. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = bare(word);
  const slips = typed.length <= 3 ? 1 : 2;
  const all = [...candidates];
  const ranked = all
    .map((candidate) => ({ candidate, away: distance(typed, bare(candidate)) }))
    .filter(({ candidate, away }) => away <= slips && away < bare(candidate).length)
    .sort((left, right) => left.away - right.away);
  if (ranked[0]) return ranked[0].candidate;
  const beginning = all.filter((candidate) => typed.length >= 2 && bare(candidate).startsWith(typed));
  return beginning.length === 1 ? beginning[0] : undefined;
}

/** The end of a sentence about an unknown word: what was meant, else where to look. */
export function didYouMean(word: string, candidates: Iterable<string>, otherwise: string): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? `; ${otherwise}` : `; did you mean "${meant}"?`;
}

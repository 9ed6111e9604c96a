// Who stands in line, and where? The order of arrival; told only when it changed.

export interface Line {
  readonly ranks: ReadonlyMap<string, number>;
}

export const EMPTY_LINE: Line = { ranks: new Map() };

export interface LineChange {
  line: Line;
  tell: { clientId: string; rank: number }[];
}

export function enter(line: Line, clientId: string): LineChange {
  if (line.ranks.has(clientId)) return { line, tell: [] };
  const rank = line.ranks.size;
  return { line: { ranks: new Map(line.ranks).set(clientId, rank) }, tell: [{ clientId, rank }] };
}

export function leave(line: Line, clientId: string): LineChange {
  const left = line.ranks.get(clientId);
  if (left === undefined) return { line, tell: [] };
  const ranks = new Map<string, number>();
  const tell: LineChange["tell"] = [];
  for (const [id, rank] of line.ranks) {
    if (id === clientId) continue;
    const now = rank > left ? rank - 1 : rank;
    ranks.set(id, now);
    if (now !== rank) tell.push({ clientId: id, rank: now });
  }
  return { line: { ranks }, tell };
}

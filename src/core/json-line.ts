// On which line of a JSON text does a value stand? For messages that name the place.

type Path = readonly PropertyKey[];

/** The line of the deepest part of the path that is there; 1 is the first. */
export function lineOf(text: string, path: Path): number {
  let at = 0;
  let found = 0;

  const space = (): void => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const string = (): string => {
    const begin = at++;
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at++;
    return JSON.parse(text.slice(begin, at));
  };

  /** `depth` parts of the path lead here; undefined: off the path. */
  const value = (depth: number | undefined): void => {
    space();
    if (depth !== undefined) found = at;
    const open = text[at];
    if (open === '"') return void string();
    if (open !== "{" && open !== "[") {
      while (at < text.length && !/[,\]}\s]/.test(text[at] as string)) at++;
      return;
    }
    at++;
    for (let index = 0; at < text.length; index++) {
      space();
      if (text[at] === "}" || text[at] === "]") break;
      const keyAt = at;
      const key = open === "{" ? string() : index;
      const onPath = depth !== undefined && String(path[depth]) === String(key) && depth < path.length;
      if (onPath) found = keyAt;
      space();
      if (open === "{") at++;
      const before = found;
      value(onPath ? (depth as number) + 1 : undefined);
      // The key's line, not the line its value begins on.
      if (onPath && (depth as number) + 1 === path.length) found = before;
      if (onPath) return;
      space();
      if (text[at] === ",") at++;
    }
    at++;
  };

  try {
    value(0);
  } catch {
    // Broken text: as far as we came.
  }
  return text.slice(0, found).split("\n").length;
}

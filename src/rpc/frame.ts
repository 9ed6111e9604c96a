// Is this frame an object with a type? Anything else is counted and otherwise passed over.

export interface Frame {
  type: string;
  [key: string]: unknown;
}

/** What is nested deeper overflows the stack when it is written again, and that would end the host. */
const DEEPEST = 1_000;
/** For what is put into a frame of ours, some levels down. */
export const DEEPEST_INSIDE = 900;

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

export function isTooDeep(text: string, deepest = DEEPEST): boolean {
  // A level takes two characters: what is shorter cannot be, and is most of what comes.
  if (text.length <= 2 * deepest) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > deepest) return true;
  }
  return false;
}

export function parseFrame(text: string): Frame | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string") {
      return undefined;
    }
    return value as Frame;
  } catch {
    return undefined;
  }
}

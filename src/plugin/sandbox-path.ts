// How is an object of the sandbox named? `config.users[0]["first name"]`, from the globals on; "" is all of them.

const NAME = "[\\p{ID_Start}$_][\\p{ID_Continue}$]*";
const IDENTIFIER = new RegExp(`^${NAME}$`, "u");
const STEP = new RegExp(`\\[(\\d+)\\]|\\[("(?:[^"\\\\]|\\\\.)*")\\]|\\['([^']*)'\\]|(\\.?)(${NAME})`, "uy");

/** The keys from the globals on, or undefined for a text that is no path. */
export function parsePath(path: string): string[] | undefined {
  const text = path.trim();
  const keys: string[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const step = STEP.exec(text);
    if (!step) return undefined;
    const [, index, quoted, single, dot, name] = step;
    if (name !== undefined && (dot === "") !== (keys.length === 0)) return undefined;
    const key = index ?? single ?? name ?? unquote(quoted ?? "");
    if (key === undefined) return undefined;
    keys.push(key);
  }
  return keys[0] === "globalThis" ? keys.slice(1) : keys;
}

function unquote(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** These are words for values, not names of variables. */
const LITERALS = new Set(["true", "false", "null", "this"]);

export const isIdentifier = (text: string): boolean => IDENTIFIER.test(text) && !LITERALS.has(text);

export function joinPath(base: string, key: string): string {
  if (/^(0|[1-9]\d*)$/.test(key)) return `${base || "globalThis"}[${key}]`;
  if (!isIdentifier(key)) return `${base || "globalThis"}[${JSON.stringify(key)}]`;
  return base === "" ? key : `${base}.${key}`;
}

// Which expression does a script end with? Found by trying: what is before it compiles by itself, and it as a value.

const MAX_TRIES = 200;
/** In parentheses these would compile too, and mean something else. */
const NO_VALUE = /^(?:\{|function\b|class\b|async\s+function\b|let\b)/;
/** Behind a closing brace only this cannot go on with what the brace ended. */
const BEGINS = /^(?!(?:in|instanceof|of|as)\b)["'\w$]/;

type Compiles = (body: string) => boolean;

/** Without the spaces, semicolons and comments at its end. */
function withoutEnd(text: string, compiles: Compiles): string {
  for (let rest = text; ; ) {
    const trimmed = rest.replace(/[\s;]+$/, "");
    const lineAt = trimmed.lastIndexOf("\n") + 1;
    const at = trimmed.endsWith("*/") ? trimmed.lastIndexOf("/*") : trimmed.indexOf("//", lineAt);
    // Inside of a text or an expression that is no comment.
    if (at < 0 || !compiles(trimmed.slice(0, at))) return trimmed;
    rest = trimmed.slice(0, at);
  }
}

const withoutBegin = (text: string): string => text.replace(/^(?:\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)+/, "");

/** Whether a statement ends here, and the rest is one expression. */
function endsAt(head: string, tail: string, compiles: Compiles): boolean {
  const value = withoutBegin(tail);
  if (value === "" || NO_VALUE.test(value)) return false;
  if (head.endsWith("}") && !BEGINS.test(value)) return false;
  if (!compiles(head) || !compiles(`return (${tail}\n)`)) return false;
  // In a comment anything may follow.
  if (compiles(`${head})`)) return false;
  // What can be read on is one statement, as `a` and in the next line `+ b`.
  return !head.endsWith("\n") || !compiles(`${withoutEnd(head, compiles)} ${value}`);
}

/** The same script, which returns what it ends with; undefined: it ends with none. `compiles`: as an async body. */
export function returningLast(script: string, compiles: Compiles): string | undefined {
  const text = withoutEnd(script, compiles);
  let tries = 0;
  for (let at = text.length - 1; at > 0 && tries < MAX_TRIES; at--) {
    if (!/[;\n}]/.test(text[at - 1] ?? "")) continue;
    tries++;
    const [head, tail] = [text.slice(0, at), text.slice(at)];
    if (!endsAt(head, tail, compiles)) continue;
    // Where a line can be left as it is, its columns are right in an error's stack.
    const lastLine = head.trimEnd().split("\n").at(-1) ?? "";
    const onOwnLine = head.endsWith("\n") && !/\/[/*]/.test(lastLine);
    return onOwnLine ? `${head.slice(0, -1)};return (\n${tail}\n)` : `${head}return (${tail}\n)`;
  }
  return undefined;
}

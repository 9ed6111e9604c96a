// Where does a JSON text go wrong? The line and the column of the first character that cannot stand there.

export interface JsonError {
  line: number;
  column: number;
  why: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /(?:true|false|null)(?![\w$])/y;

class Wrong extends Error {}

/** Undefined: the text is right. */
export function findJsonError(text: string): JsonError | undefined {
  let at = 0;
  const wrong = (why: string): never => {
    throw new Wrong(why);
  };
  const space = (): void => {
    while (/[ \t\r\n]/.test(text[at] ?? "")) at++;
  };
  const matches = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found !== null;
  };
  const found = (): string => (at < text.length ? `found ${JSON.stringify(text[at])}` : "the text ends");
  const expect = (character: string, where: string): void => {
    space();
    if (text[at] !== character) wrong(`expected "${character}" ${where}, ${found()}`);
    at++;
  };
  const string = (): void => {
    if (matches(STRING)) return;
    const line = text.slice(at).split("\n", 1)[0] ?? "";
    wrong(`this text in quotes is not ended or holds a bad escape: ${line.slice(0, 40)}`);
  };
  const members = (close: string, member: () => void): void => {
    at++;
    space();
    if (text[at] === close) return void at++;
    for (;;) {
      member();
      space();
      if (text[at] === close) return void at++;
      if (text[at] !== ",") wrong(`expected "," or "${close}", ${found()}`);
      const comma = at++;
      space();
      if (text[at] !== close) continue;
      at = comma;
      wrong(`a comma stands before "${close}"`);
    }
  };
  const key = (): void => {
    space();
    if (text[at] !== '"') wrong(`expected a key in double quotes, ${found()}`);
    string();
    expect(":", "after the key");
    value();
  };
  const value = (): void => {
    space();
    if (text[at] === "{") return members("}", key);
    if (text[at] === "[") return members("]", value);
    if (text[at] === '"') return string();
    if (!matches(NUMBER) && !matches(WORD)) wrong(`expected a value, ${found()}`);
  };
  try {
    value();
    space();
    if (at < text.length) wrong(`expected nothing more, ${found()}`);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof Wrong)) throw thrown;
    const before = text.slice(0, at).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, why: thrown.message };
  }
}

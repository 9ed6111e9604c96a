// Which variables did scripts make? The engine does not list `let`, `const` and `class`, so every word of a script is a
// candidate, and those that resolve without being a property of `globalThis` are lexical variables.
import { runInThisContext } from "node:vm";
import { isIdentifier } from "./sandbox-path.ts";
import { isObject, ownProperty } from "./sandbox-values.ts";

const MAX_WORDS = 20_000;

export type Resolved = { kind: "value"; value: unknown } | { kind: "getter" } | { kind: "missing" };

export interface Globals {
  /** Remembers the words of a script that ran at the top level. */
  saw(script: string): void;
  resolve(name: string): Resolved;
  made(): string[];
}

export function propertyOf(value: unknown, key: string): Resolved {
  const property = isObject(value) ? ownProperty(value, key) : undefined;
  if (!property) return { kind: "missing" };
  return "value" in property ? { kind: "value", value: property.value } : { kind: "getter" };
}

/** To be made before any user code runs: what is there now does not count as made by scripts. */
export function createGlobals(): Globals {
  const builtIn = new Set(Object.getOwnPropertyNames(globalThis));
  const words = new Set<string>();

  function resolve(name: string): Resolved {
    const property = propertyOf(globalThis, name);
    if (property.kind === "getter" || !isIdentifier(name)) return property;
    try {
      return { kind: "value", value: runInThisContext(name) };
    } catch {
      return property;
    }
  }

  return {
    resolve,
    saw(script) {
      if (!/\b(?:let|const|class)\b/.test(script)) return;
      for (const [word] of script.matchAll(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu)) {
        if (words.size < MAX_WORDS) words.add(word);
      }
    },
    made() {
      const names = Object.getOwnPropertyNames(globalThis).filter((name) => !builtIn.has(name));
      for (const word of words) {
        if (Object.hasOwn(globalThis, word) || resolve(word).kind === "missing") words.delete(word);
      }
      return [...names, ...words];
    },
  };
}

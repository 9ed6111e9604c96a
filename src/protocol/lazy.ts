// When is a schema made? When something is checked against it: a command that only starts pays for none of them.
import type { z } from "zod";

type Zod = typeof z;

/** Not by `import`: that happens at the start, and takes as long as an empty program. */
export const zod = (): Zod => (require("./zod.ts") as typeof import("./zod.ts")).z;

const REAL = Symbol("the schema itself");

/** To everybody who uses it as the schema itself. */
export function lazy<Schema extends object>(make: (z: Zod) => Schema): Schema {
  let made: Schema | undefined;
  const schema = (): Schema => {
    made ??= make(zod());
    return made;
  };
  return new Proxy({} as Schema, {
    get: (_, key) => (key === REAL ? schema() : Reflect.get(schema(), key)),
    has: (_, key) => Reflect.has(schema(), key),
    ownKeys: () => Reflect.ownKeys(schema()),
    getOwnPropertyDescriptor(_, key) {
      const found = Reflect.getOwnPropertyDescriptor(schema(), key);
      return found && { ...found, configurable: true };
    },
  });
}

/** For those who know a schema by its identity, as zod's own registries do. */
export const real = <Schema extends object>(schema: Schema): Schema =>
  (schema as { [REAL]?: Schema })[REAL] ?? schema;

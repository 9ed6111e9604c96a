// Is this value what a type says? Small checks that are put together: loading a schema takes longer than a whole command.

export type Guard<Value> = (value: unknown) => value is Value;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === "string";
export const isSomeText = (value: unknown): value is string => typeof value === "string" && value !== "";
export const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
/** A whole number from `least` up. */
export const wholeFrom =
  (least: number): Guard<number> =>
  (value): value is number =>
    Number.isSafeInteger(value) && (value as number) >= least;
export const isAnything = (_: unknown): _ is unknown => true;

export const isOneOf =
  <const Word>(...words: readonly Word[]): Guard<Word> =>
  (value): value is Word =>
    words.some((word) => word === value);
export const optional =
  <Value>(fits: Guard<Value>): Guard<Value | undefined> =>
  (value): value is Value | undefined =>
    value === undefined || fits(value);
export const nullable =
  <Value>(fits: Guard<Value>): Guard<Value | null> =>
  (value): value is Value | null =>
    value === null || fits(value);
export const listOf =
  <Value>(fits: Guard<Value>): Guard<Value[]> =>
  (value): value is Value[] =>
    Array.isArray(value) && value.every(fits);
export const isTextRecord = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every(isText);

/** The fields that a type names: what else comes is let through. */
type Named<Type> = keyof { [Key in keyof Type as string extends Key ? never : Key]: true } & keyof Type;

/** One guard for each field, or it does not compile. */
export function shape<Type>(fields: { readonly [Key in Named<Type>]-?: Guard<Type[Key]> }): Guard<Type> {
  const checks = Object.entries(fields) as [string, Guard<unknown>][];
  return (value): value is Type => isRecord(value) && checks.every(([key, fits]) => fits(value[key]));
}

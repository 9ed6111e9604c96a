// What does a person read when a file cannot be used? Plain words and a code, in place of the system's own.
import { Fault, type FaultCode, messageOf } from "./fault.ts";

const WORDS: Readonly<Record<string, [code: FaultCode, why: string]>> = {
  EACCES: ["NOT_PERMITTED", "permission denied"],
  EPERM: ["NOT_PERMITTED", "this is not permitted"],
  EROFS: ["NOT_PERMITTED", "the file system is read-only"],
  ENOENT: ["USAGE", "there is no such file or directory"],
  ENOTDIR: ["USAGE", "a part of its path is no directory"],
  EISDIR: ["USAGE", "it is a directory"],
  ENOSPC: ["DISK_FULL", "the disk is full; make room and try again"],
  EDQUOT: ["DISK_FULL", "your quota of the disk is used up; make room and try again"],
};

const known = (thrown: unknown): [FaultCode, string] | undefined =>
  WORDS[String((thrown as { code?: unknown } | undefined)?.code)];

/** Why, in words; what the system does not number is told as it is. */
export const whyOf = (thrown: unknown): string => known(thrown)?.[1] ?? messageOf(thrown);

/** `says` gets the reason; anything else than the system's refusal of a file stays what it is. */
export function orFault(thrown: unknown, says: (why: string) => string): unknown {
  const found = thrown instanceof Fault ? undefined : known(thrown);
  if (!found) return thrown;
  const [code, why] = found;
  const { path } = thrown as { path?: unknown };
  return new Fault(code, says(why), typeof path === "string" ? { path } : {}, { cause: thrown });
}

/** Wherever nobody has said more. */
export const orPlain = (thrown: unknown): unknown =>
  orFault(thrown, (why) => `"${(thrown as { path?: unknown }).path ?? "A file"}" cannot be used: ${why}`);

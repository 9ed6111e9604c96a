// How long may a short command take? Past `--timeout` it ends with exit code 6.

import { Fault } from "../protocol/fault.ts";
import { duration } from "../surface/argument.ts";
import type { Context } from "./context.ts";

export const timeLimitArg = duration("How long the whole command may take", { default: "30s" });

export async function within<Answer>({ world }: Context, timeoutMs: number, work: Promise<Answer>): Promise<Answer> {
  const expired = Promise.withResolvers<never>();
  const late = () => expired.reject(new Fault("TIMEOUT", `Not done within ${timeoutMs} ms; raise it with --timeout`));
  const cancel = world.clock.after(timeoutMs, late);
  return await Promise.race([work, expired.promise]).finally(cancel);
}

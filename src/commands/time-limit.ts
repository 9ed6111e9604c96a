// How long may a command take? From its first step on, connecting included; past `--timeout` it ends with exit code 6.

import type { Clock } from "../platform/world.ts";
import { Fault } from "../protocol/fault.ts";
import { duration } from "../surface/argument.ts";
import type { Context } from "./context.ts";

export const timeLimitArg = duration("How long the whole command may take", { default: "30s" });

export async function within<Answer>(
  { world }: Pick<Context, "world">,
  timeoutMs: number,
  work: Promise<Answer>,
  says = `Not done within ${timeoutMs} ms; raise it with --timeout`,
): Promise<Answer> {
  const expired = Promise.withResolvers<never>();
  const late = () => expired.reject(new Fault("TIMEOUT", says));
  const cancel = world.clock.after(timeoutMs, late);
  return await Promise.race([work, expired.promise]).finally(cancel);
}

/** What is left of a time that runs from now on; without one there is no end. */
export function timeLeft({ clock }: { clock: Clock }, timeoutMs: number | undefined): () => number {
  const deadline = clock.elapsed() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  return () => Math.max(0, deadline - clock.elapsed());
}

/** Ends with the reason of `over`, also where that was before. */
export async function unlessOver<Answer>(over: AbortSignal, work: Promise<Answer>): Promise<Answer> {
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(over.reason);
  over.addEventListener("abort", end, { once: true });
  if (over.aborted) end();
  return await Promise.race([work, ended.promise]).finally(() => over.removeEventListener("abort", end));
}

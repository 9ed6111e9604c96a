// What if the browser is lost while the brain thinks? Then its call is cancelled, and the loss is what came of it.

export async function think<Value>(
  lost: AbortSignal,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  for (const each of [signal, lost]) each.throwIfAborted();
  const over = new AbortController();
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => undefined);
  const onEnd = () => {
    const reason = signal.aborted ? signal.reason : lost.reason;
    over.abort(reason);
    gone.reject(reason);
  };
  for (const each of [lost, signal]) each.addEventListener("abort", onEnd, { once: true });
  try {
    const thinking = ask(over.signal);
    // When nobody waits for it any more, its failure is nobody's.
    thinking.catch(() => undefined);
    return await Promise.race([thinking, gone.promise]);
  } finally {
    for (const each of [lost, signal]) each.removeEventListener("abort", onEnd);
  }
}

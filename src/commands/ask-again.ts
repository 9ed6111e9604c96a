// What if the host goes while it is asked? What may be asked twice without harm is asked again, of whoever hosts next.
import type { BridgeConnection } from "../bridge/connection.ts";
import { Fault } from "../protocol/fault.ts";
import type { Context } from "./context.ts";

/** Its host went away, or is about to. */
export const isLoss = (thrown: unknown): boolean => thrown instanceof Fault && thrown.code === "SESSION_DISCONNECTED";

/** One that is leaving still answers, and says so; should it stay after all, it is asked again. */
const LEAVING_MS = 100;

/** Until somebody else hosts. Where nobody will, that is why, and not that the last one went. */
async function nextHost({ world }: Pick<Context, "world">, connection: BridgeConnection, loss: unknown): Promise<void> {
  const mustGoOn = () => {
    if (connection.ended) throw connection.ended.error ?? loss;
  };
  mustGoOn();
  const changed = new AbortController();
  const stops = [connection.on("host-found", () => changed.abort()), connection.on("ended", () => changed.abort())];
  await world.clock.sleep(connection.isConnected ? LEAVING_MS : Number.MAX_SAFE_INTEGER, changed.signal);
  for (const stop of stops) stop();
  mustGoOn();
}

/** The caller's time is kept by the caller. */
export async function untilAnswered<Answer>(
  context: Pick<Context, "world">,
  connection: BridgeConnection,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (!isLoss(thrown)) throw thrown;
      await nextHost(context, connection, thrown);
    }
  }
}

// In which order does a host leave, so that there is no gap?
import type { Clock, Listener, Socket } from "../platform/world.ts";
import type { Courtesy } from "./courtesy.ts";
import type { PluginLink } from "./plugin-link.ts";
import type { Relay } from "./relay.ts";
import type { Roster } from "./roster.ts";

interface Deps {
  clock: Clock;
  relay: Relay;
  roster: Roster;
  listener: Listener;
  courtesy: Courtesy;
  /** Every socket on `/client`, greeted or not. */
  clientSockets(): Iterable<Socket>;
  plugins(): Iterable<PluginLink>;
  isEmpty(): boolean;
  /** Ends what a successor will read. */
  seal(): void | Promise<void>;
}

const DRAIN_MS = 250;
const CLOSE_FRAMES_MS = 1_500;
const REASON = "host shutting down";

async function drain(clock: Clock, relay: Relay): Promise<void> {
  if (relay.inFlight === 0) return;
  const over = new AbortController();
  await Promise.race([relay.drained(), clock.sleep(DRAIN_MS, over.signal)]);
  over.abort();
}

/** `/health` and new upgrades answer 503 already when this begins. */
export async function sayGoodbye(deps: Deps): Promise<void> {
  const { clock, relay, roster } = deps;
  roster.tellRemote({ type: "host-transfer" });
  await drain(clock, relay);
  relay.abandonAll("the host is shutting down");
  await deps.seal();
  // The port is free before anybody hears the close: who reacts to it finds it free, and nobody joins a dying host.
  deps.courtesy.release();
  deps.listener.release();
  const ranked = roster
    .remote()
    .map((client) => ({ client, rank: roster.rankOf(client) ?? Number.MAX_SAFE_INTEGER }))
    .sort((left, right) => left.rank - right.rank);
  for (const { client } of ranked) client.close(1001, REASON);
  for (const socket of deps.clientSockets()) socket.close(1001, REASON);
  for (const { socket, session } of deps.plugins()) {
    session?.send({ type: "shutdown", sessionId: session.wireId, payload: {} });
    socket.close(1001, REASON);
  }
  const deadline = clock.elapsed() + CLOSE_FRAMES_MS;
  while (!deps.isEmpty() && clock.elapsed() < deadline) await clock.sleep(2);
}

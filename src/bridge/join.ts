// Is there a host of ours on this port? Nothing but a nonce is sent until it has proven itself.
import type { Socket, SocketEvents, World } from "../platform/world.ts";
import type { ClientHello, ClientMessage } from "../protocol/client.ts";
import { Fault } from "../protocol/fault.ts";
import { isHealth, isHostHello, isHostMessage } from "../protocol/host-frames.ts";
import type { HostMessage } from "../protocol/host-messages.ts";
import { DEFAULT_SETTINGS } from "../protocol/settings.ts";
import { OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION, VERSION } from "../protocol/version.ts";
import { NONCE_HEADER } from "../protocol/vocabulary.ts";
import { parseFrame } from "../rpc/frame.ts";
import { type ClientProver, createClientProver } from "../rpc/prover.ts";
import { type PeerWatch, watchPeer } from "../rpc/watch.ts";

export interface HostLink {
  readonly role: "host" | "client";
  readonly port: number;
  readonly hostPid: number;
  /** A fault when it cannot be sent at all. */
  send(message: ClientMessage): Fault | undefined;
  /** Leaves; `closed` is not told any more. */
  end(): void;
}

export type JoinOutcome =
  | { kind: "joined"; link: HostLink }
  | { kind: "refused" }
  | { kind: "broken" }
  | { kind: "closing" }
  | { kind: "full" }
  | { kind: "silent" }
  /** Not a holdfast host, or one that does not know our token. */
  | { kind: "foreign"; why: string }
  | { kind: "skew"; why: string };

export interface LinkEvents {
  message(message: HostMessage): void;
  closed(why: { hung: boolean }): void;
}

export interface JoinOptions {
  port: number;
  token: string;
  standing: boolean;
}

export type JoinWorld = Pick<World, "clock" | "net" | "secrets" | "pid">;

const JOIN_MS = 2_000;
const FRAME_BYTES = DEFAULT_SETTINGS.limits.frameBytes;

const tooLarge = (bytes: number): Fault =>
  new Fault("INVALID_PAYLOAD", `This is ${bytes} bytes, and ${FRAME_BYTES} is the most that can be sent at once`);
const NO_PROOF = "it could not prove that it knows this user's token: a stranger, or another user's holdfast";

export async function join(world: JoinWorld, options: JoinOptions, events: LinkEvents): Promise<JoinOutcome> {
  const { clock, net } = world;
  const { port } = options;
  const deadline = clock.elapsed() + JOIN_MS;
  const { promise, resolve } = Promise.withResolvers<JoinOutcome>();
  const prover = createClientProver(world, options.token);
  const headers = { [NONCE_HEADER]: prover.nonce };
  const connected = await net.connect({ port, path: "/client", timeoutMs: JOIN_MS, headers }, (socket) =>
    greet(world, options, socket, prover, events, resolve),
  );
  if (connected.kind === "denied") return whyDenied(world, port, connected.status, deadline - JOIN_MS);
  if (connected.kind !== "open") return connected;
  const cancel = clock.after(Math.max(deadline - clock.elapsed(), 1), () => {
    resolve({ kind: "silent" });
    connected.socket.cut();
  });
  const outcome = await promise;
  cancel();
  return outcome;
}

async function whyDenied(
  { clock, net }: JoinWorld,
  port: number,
  status: number,
  knockedAt: number,
): Promise<JoinOutcome> {
  if (status !== 503) return { kind: "foreign", why: `it answers ${status} to a holdfast client` };
  const health = await net.probe(port, JOIN_MS);
  if (health.kind !== "answer" || health.status !== 200) return { kind: "closing" };
  // A host that is well and still says 503 has no room; one younger than our knock is the next one already.
  const isNext = hostUptimeOf(health.body) <= clock.elapsed() - knockedAt + 1;
  return { kind: isNext ? "closing" : "full" };
}

function hostUptimeOf(body: string): number {
  try {
    const health: unknown = JSON.parse(body);
    return isHealth(health) ? health.hostUptime : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function greet(
  world: JoinWorld,
  { port, standing }: JoinOptions,
  socket: Socket,
  prover: ClientProver,
  events: LinkEvents,
  resolve: (outcome: JoinOutcome) => void,
): SocketEvents {
  let joined = false;
  let left = false;
  let watch: PeerWatch | undefined;
  // Again, for a host that does not look at headers.
  socket.send(JSON.stringify({ type: "client-challenge", nonce: prover.nonce }));

  const refuse = (outcome: JoinOutcome): void => {
    left = true;
    resolve(outcome);
    socket.close(1000, "");
  };

  const lost = (hung: boolean): void => {
    watch?.stop();
    if (left) return;
    left = true;
    if (joined) events.closed({ hung });
    else resolve({ kind: "broken" });
  };

  const enter = (text: string): void => {
    const hello: unknown = parseFrame(text);
    const proof = isHostHello(hello) ? prover.check(hello) : undefined;
    if (!isHostHello(hello) || proof === undefined) return refuse({ kind: "foreign", why: NO_PROOF });
    const { protocolVersion, version, pid } = hello;
    if (protocolVersion < OLDEST_PROTOCOL_VERSION) {
      const why = `the host is holdfast ${version} with protocol ${protocolVersion}, this is ${VERSION} with ${PROTOCOL_VERSION}; run: holdfast stop`;
      return refuse({ kind: "skew", why });
    }
    const answer: ClientHello = {
      type: "client-hello",
      proof,
      version: VERSION,
      // The older of the two: what we say must be understood there.
      protocolVersion: Math.min(protocolVersion, PROTOCOL_VERSION),
      standing,
      pid: world.pid,
    };
    socket.send(JSON.stringify(answer));
    joined = true;
    watch = watchPeer(world.clock, socket, () => {
      lost(true);
      socket.cut();
    });
    const end = () => {
      left = true;
      watch?.stop();
      socket.close(1000, "");
      // All that mattered was answered: nobody waits for an answer to the goodbye.
      socket.cut();
    };
    const send = (message: ClientMessage) => {
      const text = JSON.stringify(message);
      // The host would close on it, and nobody could tell that from a loss.
      if (Buffer.byteLength(text) > FRAME_BYTES) return tooLarge(text.length);
      socket.send(text);
      return undefined;
    };
    resolve({ kind: "joined", link: { role: "client", port, hostPid: pid, send, end } });
  };

  return {
    message(text) {
      watch?.heard();
      if (left) return;
      if (!joined) return enter(text);
      const message: unknown = parseFrame(text);
      if (isHostMessage(message)) events.message(message);
    },
    pong: () => watch?.heard(),
    closed: () => lost(false),
  };
}

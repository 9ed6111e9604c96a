// What becomes of one client, from its first frame to its last? The same for a socket and for the host's own process.
import type { Cancel, SocketEvents, World } from "../platform/world.ts";
import { ClientMessage, isClientChallenge, isClientHello, isUsualMessage } from "../protocol/client.ts";
import type { HostMessage } from "../protocol/host-messages.ts";
import { OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION, VERSION } from "../protocol/version.ts";
import { type Frame, parseFrame } from "../rpc/frame.ts";
import { createHostProver } from "../rpc/prover.ts";
import { errorResult } from "./relay.ts";

export interface Client {
  clientId: string;
  standing: boolean;
  /** Said `client-hello`: it knows our own messages. */
  ours: boolean;
  /** In the host's own process. */
  local: boolean;
  pid: number | null;
  send(message: HostMessage): void;
  close(code: number, reason: string): void;
}

export interface ClientLinkDeps {
  world: Pick<World, "clock" | "newId" | "secrets" | "pid">;
  token: string;
  /** It came with the upgrade, and is answered at once; the frame that says it again is not. */
  nonce?: string | null;
  /** Foreign clients may speak without a hello, and listen without a word. */
  open: boolean;
  /** Each is greeted with `host-ready`. */
  failover: boolean;
  /** It hears what all clients are told, though nobody knows yet what it is; ends when that is called. */
  listens(send: (message: HostMessage) => void): Cancel;
  entered(client: Client): void;
  asked(client: Client, message: ClientMessage): void;
  malformed(): void;
  heard(): void;
  gone(client: Client | undefined): void;
}

interface Wire {
  send(text: string): void;
  close(code: number, reason: string): void;
}

const HELLO_MS = 10_000;
const NEEDS_TOKEN = "This host wants a proof of its token; a foreign client needs a host with --auth none";

export function createClientLink(wire: Wire, deps: ClientLinkDeps): SocketEvents {
  const { clock, newId, pid } = deps.world;
  const prover = createHostProver(deps.world, deps.token);
  let client: Client | undefined;

  const cancelHello: Cancel = clock.after(HELLO_MS, () => {
    if (!client && !deps.open) wire.close(1008, "No client-hello within 10 s");
  });

  const send = (message: HostMessage): void => wire.send(JSON.stringify(message));
  let isGreeted = false;
  const greet = (): void => {
    if (deps.failover && !isGreeted) send({ type: "host-ready" });
    isGreeted = true;
  };
  // Ours come with a nonce, and say who they are; others may only want to hear.
  const isForeign = deps.open && !deps.nonce;
  const hushed = isForeign ? deps.listens(send) : () => {};
  if (isForeign) greet();

  const enter = (standing: boolean, ours: boolean, clientPid: number | null): Client => {
    cancelHello();
    hushed();
    client = {
      clientId: newId(),
      standing,
      ours,
      local: false,
      pid: clientPid,
      send,
      close: wire.close,
    };
    deps.entered(client);
    greet();
    return client;
  };

  let answered: string | undefined;
  const challenged = (frame: Frame): void => {
    if (!isClientChallenge(frame)) return deps.malformed();
    hushed();
    if (frame.nonce === answered) return;
    answered = frame.nonce;
    const proof = prover.answer(frame.nonce);
    const versions = { version: VERSION, protocolVersion: PROTOCOL_VERSION };
    wire.send(JSON.stringify({ type: "host-hello", ...proof, ...versions, pid }));
  };

  const greeted = (frame: Frame): void => {
    if (!isClientHello(frame)) return deps.malformed();
    if (client) return;
    if (!prover.accepts(frame.proof)) return wire.close(1008, "The proof of the token is wrong");
    if (frame.protocolVersion < OLDEST_PROTOCOL_VERSION) {
      return wire.close(1008, `Protocol ${frame.protocolVersion} is too old for this host`);
    }
    enter(frame.standing, true, frame.pid ?? null);
  };

  if (deps.nonce) challenged({ type: "client-challenge", nonce: deps.nonce });

  return {
    message(text) {
      deps.heard();
      const frame = parseFrame(text);
      if (!frame) return deps.malformed();
      if (frame.type === "client-challenge") return challenged(frame);
      if (frame.type === "client-hello") return greeted(frame);
      const message = isUsualMessage(frame)
        ? ({ success: true, data: frame } as const)
        : ClientMessage.safeParse(frame);
      if (!client && !deps.open) return message.success ? wire.close(1008, NEEDS_TOKEN) : deps.malformed();
      const speaker = client ?? enter(false, false, null);
      if (message.success) return deps.asked(speaker, message.data);
      deps.malformed();
      const { requestId, type } = frame;
      if (typeof requestId !== "string") return;
      const issue = message.error.issues[0];
      const why = `Bad "${issue?.path.join(".")}" in ${type}: ${issue?.message}`;
      if (type === "agent-request") {
        const error = { code: "INVALID_PAYLOAD", message: `${why}; a host of another version may need: holdfast stop` };
        speaker.send({ type: "agent-response", requestId, error: { ...error, data: {} } });
      }
      if (type !== "host-envelope") return;
      speaker.send({ type: "host-response", requestId, result: errorResult("", "INVALID_PAYLOAD", why, requestId) });
    },
    pong: deps.heard,
    closed() {
      cancelHello();
      hushed();
      deps.gone(client);
    },
  };
}

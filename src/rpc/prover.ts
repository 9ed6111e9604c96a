// Does the other side know the token? Asked and answered on both ends of one socket; the token never crosses it.
import { clientProofText, hostProofText } from "../core/proof.ts";
import type { World } from "../platform/world.ts";

type Deps = Pick<World, "secrets">;

/** The host's end: proves itself for the other's nonce, then checks what comes back. */
export interface HostProver {
  answer(clientNonce: string): { nonce: string; proof: string };
  /** One try per challenge. */
  accepts(proof: unknown): boolean;
}

export function createHostProver({ secrets }: Deps, token: string): HostProver {
  let expected: string | undefined;
  return {
    answer(clientNonce) {
      const nonce = secrets.nonce();
      expected = secrets.hmac(token, clientProofText(clientNonce, nonce));
      return { nonce, proof: secrets.hmac(token, hostProofText(clientNonce, nonce)) };
    },
    accepts(proof) {
      const wanted = expected;
      expected = undefined;
      return wanted !== undefined && typeof proof === "string" && secrets.equal(proof, wanted);
    },
  };
}

/** The client's or plugin's end: sends a nonce, believes only a right proof, and answers with its own. */
export interface ClientProver {
  nonce: string;
  /** Our own proof, or undefined when the host could not prove itself. */
  check(host: { nonce: string; proof: string }): string | undefined;
}

export function createClientProver({ secrets }: Deps, token: string): ClientProver {
  const nonce = secrets.nonce();
  return {
    nonce,
    check(host) {
      // A mirror that sends our own nonce back proves nothing.
      if (host.nonce === nonce) return undefined;
      if (!secrets.equal(host.proof, secrets.hmac(token, hostProofText(nonce, host.nonce)))) return undefined;
      return secrets.hmac(token, clientProofText(nonce, host.nonce));
    },
  };
}

// Which prompts of a session has nobody answered? Those an earlier host left; their texts are in the journal.
import type { Policy } from "../protocol/agents.ts";
import type { AcpClient } from "./acp-client.ts";
import type { Prompt, SessionDeps } from "./session-needs.ts";

export const LOST = {
  stopReason: "lost",
  code: "AGENT_LOST",
  message: "The host that ran this turn is gone, and its agent with it; the outcome is unknown",
};
/** It waited for its turn; nothing was done, and it may be sent again. */
export const NEVER_SENT = {
  stopReason: "error",
  code: "HOST_UNREACHABLE",
  message: "The host that had this prompt is gone, and the agent never got it; send it again",
};
/** So long a prompt that no agent ever got waits for one after its host has died. */
export const PARKED_MS = 10 * 60_000;

/** How a prompt goes on: in the turn that this client still runs, in the queue, or not at all. */
export type LeftPrompt = { prompt: Prompt } & (
  | { kind: "runs"; client: AcpClient; at: string; asked: Promise<{ stopReason: string }> | undefined }
  | { kind: "waits" }
  | { kind: "over"; end: Record<string, string> }
);

/** `client`: the agent that had the session open; `isGone`: it is dead, or told to die. */
export function leftPrompts(
  { journal, clock }: Pick<SessionDeps, "journal" | "clock">,
  client: AcpClient | undefined,
  isGone: boolean,
): LeftPrompt[] {
  const { open, started, again, run, cancelAsked } = journal.fold;
  /** Only there it is known whether it was sent: another life of the agent would do it twice. */
  const isItsLife = started?.run === undefined || started.run === run;
  return open.map(({ promptId, seq, at, clientId, policy }): LeftPrompt => {
    const prompt: Prompt = {
      promptId,
      clientId,
      policy: policy as Policy,
      // Read when it is sent: a turn that only goes on needs no text.
      get text() {
        return String(journal.read(seq - 1, 1)[0]?.data["text"] ?? "");
      },
    };
    if (started?.promptId === promptId) {
      const asked = client?.resumed(promptId, again === promptId);
      if (cancelAsked === promptId && !asked) return { kind: "over", prompt, end: { stopReason: "cancelled" } };
      if (client && (asked || (!isGone && isItsLife))) return { kind: "runs", prompt, client, at: started.at, asked };
      return { kind: "over", prompt, end: LOST };
    }
    if (cancelAsked === promptId) return { kind: "over", prompt, end: { stopReason: "cancelled" } };
    const isFresh = clock.since(at) < PARKED_MS;
    return isFresh || (client && !isGone) ? { kind: "waits", prompt } : { kind: "over", prompt, end: NEVER_SENT };
  });
}

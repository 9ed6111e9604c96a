// Which prompts of a session has nobody answered? Those an earlier host left; their texts are in the journal.
import type { Policy } from "../protocol/agents.ts";
import type { Journal } from "./journal.ts";
import type { Prompt } from "./session-needs.ts";

export const LOST = {
  stopReason: "lost",
  code: "AGENT_LOST",
  message: "The host that ran this turn is gone, and its agent with it; the outcome is unknown",
};
/** So long a prompt that no agent ever got waits for one after its host has died. */
export const PARKED_MS = 10 * 60_000;

export const leftPrompts = (journal: Journal): (Prompt & { at: string })[] =>
  journal.fold.open.map(({ promptId, seq, at, clientId, policy }) => ({
    promptId,
    at,
    clientId,
    policy: policy as Policy,
    // Read when it is sent: a turn that only goes on needs no text.
    get text() {
      return String(journal.read(seq - 1, 1)[0]?.data["text"] ?? "");
    },
  }));

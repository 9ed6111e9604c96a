// Who answers when an agent asks? The person at this terminal, unless another client was faster.
import type { BridgeConnection } from "../bridge/connection.ts";
import type { PermissionOption } from "../protocol/acp.ts";
import { isPermissionOption } from "../protocol/agent-answers.ts";
import type { SessionRecord } from "../protocol/agents.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { listOf } from "../protocol/guards.ts";
import { askUntilAnswered } from "./agent-session.ts";
import type { Context } from "./context.ts";

const KEYS: Readonly<Record<string, string>> = {
  allow_once: "y",
  allow_always: "a",
  reject_once: "n",
  reject_always: "never",
};

export interface PermissionDialog {
  told(record: SessionRecord): void;
  end(): void;
}

/** Nobody can be asked here; somebody elsewhere may be. */
const nobodyHere = ({ printer }: Context, session: string): PermissionDialog => ({
  told({ type, data }) {
    if (type !== "permission-requested" || data["policy"] !== "ask") return;
    printer.note(`The agent waits for an answer; give it with: holdfast attach ${session}`, "yellow");
  },
  end() {},
});

export function createPermissionDialog(
  context: Context,
  connection: BridgeConnection,
  session: string,
): PermissionDialog {
  const { printer, isInteractive, readLine, world } = context;
  if (!isInteractive || printer.format === "json") return nobodyHere(context, session);
  const open = new Map<string, AbortController>();
  // One question at a time, or one answer would be taken for all of them.
  let last: Promise<void> = Promise.resolve();
  let inputEnded = false;

  const ask = async (permissionId: string, title: string, options: PermissionOption[]): Promise<void> => {
    const over = open.get(permissionId) ?? new AbortController();
    const choices = options.map((option) => ({ option, key: KEYS[option.kind] ?? option.optionId }));
    const list = choices.map(({ option, key }) => `[${key}] ${option.name}`).join("  ");
    while (!over.signal.aborted) {
      printer.note(`${title}?  ${list}`, "bold");
      const line = inputEnded ? undefined : await readLine(over.signal);
      if (line === undefined) {
        inputEnded ||= !over.signal.aborted;
        // No answer is taken from that: a terminal that was closed looks the same.
        if (inputEnded) printer.note(`The input has ended here; answer it with: holdfast attach ${session}`, "yellow");
        break;
      }
      const chosen = choices.find(({ option, key }) => key === line || option.optionId === line);
      if (!chosen) continue;
      const { optionId } = chosen.option;
      await askUntilAnswered(context, connection, { verb: "answer", session, permissionId, optionId }).catch(
        (thrown) => {
          if (!(thrown instanceof Fault)) throw thrown;
          printer.note(messageOf(thrown), "yellow");
        },
      );
      break;
    }
    open.delete(permissionId);
  };

  return {
    told({ type, data }) {
      const permissionId = String(data["permissionId"]);
      if (type === "permission-resolved") {
        if (open.has(permissionId)) printer.note("Answered", "dim");
        open.get(permissionId)?.abort();
      }
      if (type !== "permission-requested" || data["policy"] !== "ask") return;
      const { options } = data;
      const { title } = (data["toolCall"] ?? {}) as { title?: unknown };
      if (!listOf(isPermissionOption)(options)) return;
      open.set(permissionId, new AbortController());
      // A turn later: what was answered long ago is answered in the same piece of the journal.
      last = last
        .then(() => world.clock.sleep(0))
        .then(() => ask(permissionId, String(title ?? "Allow this"), options));
    },
    end() {
      for (const over of open.values()) over.abort();
    },
  };
}

// How does a brain talk with an agent of the bridge? A session of its own, one turn per question, the text as its answer.

import type { BridgeConnection } from "../bridge/connection.ts";
import type { AgentTalk } from "../browser/acp-brain.ts";
import { Fault, SessionDisconnectedError } from "../protocol/fault.ts";
import { askUntilAnswered, followSession, mustBeDone } from "./agent-session.ts";
import type { Context } from "./context.ts";

interface Update {
  sessionUpdate?: unknown;
  content?: { type?: unknown; text?: unknown };
}

const textOf = (update: Update): string =>
  update.sessionUpdate === "agent_message_chunk" && update.content?.type === "text" ? String(update.content.text) : "";

/** The session is made by the first question. Its own tools are denied: the browser is all it may touch. */
export function createAgentTalk(
  { world, plainEnv, printer }: Pick<Context, "world" | "plainEnv" | "printer">,
  connection: BridgeConnection,
  agent: string,
  cwd: string,
): AgentTalk {
  let session: string | undefined;

  const turn = async (text: string, promptId: string, signal: AbortSignal): Promise<string> => {
    const asked = await askUntilAnswered({ world }, connection, {
      verb: "prompt",
      agent,
      ...(session === undefined ? {} : { session }),
      cwd,
      text,
      policy: "deny",
      promptId,
      detach: false,
      env: plainEnv,
    });
    const { session: name, after } = asked as { session: string; after: number };
    session = name;
    const notice = (text: string) => printer.note(text, "yellow");
    let said = "";
    let ours = false;
    for await (const { type, data } of followSession(connection, name, after, notice, signal)) {
      if (type === "turn-started") ours = data["promptId"] === promptId;
      if (type === "update" && ours) said += textOf(data["update"] as Update);
      if (type !== "turn-ended" || data["promptId"] !== promptId) continue;
      mustBeDone(data);
      return said;
    }
    throw new Fault("AGENT_LOST", "The session ended before the turn did");
  };

  return {
    async ask(text, signal) {
      const promptId = world.newId();
      try {
        return await turn(text, promptId, signal);
      } catch (thrown) {
        if (signal.aborted && session !== undefined) {
          await connection.askAgents({ verb: "cancel", session, promptId }).catch(() => undefined);
        }
        signal.throwIfAborted();
        if (!(thrown instanceof SessionDisconnectedError)) throw thrown;
        throw new Fault("AGENT_LOST", "The host was lost while the agent was thinking", {}, { cause: thrown });
      }
    },
    async end() {
      if (session !== undefined) await connection.askAgents({ verb: "close", session }).catch(() => undefined);
    },
  };
}

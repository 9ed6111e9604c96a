// How does an agent's work fare in the demo? It streams while its host and its keeper die; then it is killed itself.
import type { BridgeConnection } from "../../bridge/connection.ts";
import { Fault } from "../../protocol/fault.ts";
import { listAgents } from "../agent-list.ts";
import { askUntilAnswered } from "../agent-session.ts";
import { untilAnswered } from "../ask-again.ts";
import type { Context } from "../context.ts";
import { followLines, type Lines } from "./lines.ts";
import type { Stage } from "./stage.ts";

const SESSION = "demo";

interface Update {
  sessionUpdate?: string;
  content?: { text?: string };
}

export interface AgentAct {
  pids(): Promise<{ agent: number; keeper: number }>;
  /** A turn that streams numbered lines. */
  stream(lines: number, everyMs: number): Promise<Lines>;
  /** What the agent says to this, in one piece. */
  ask(text: string): Promise<string>;
}

export function createAgentAct(context: Context, stage: Stage, connection: BridgeConnection): AgentAct {
  const { clock, newId } = context.world;
  const env = { ...context.plainEnv, ...stage.env };
  const prompt = async (text: string) => {
    const promptId = newId();
    const asked = await askUntilAnswered(context, connection, {
      verb: "prompt",
      agent: "demo",
      session: SESSION,
      cwd: context.absolute("."),
      text,
      policy: "deny",
      promptId,
      detach: false,
      env,
    });
    return { ...(asked as { session: string; after: number }), promptId };
  };
  return {
    async pids() {
      const agents = await untilAnswered(context, connection, () => listAgents(connection, env["PATH"] ?? ""));
      const { pid, keeper } = agents.find(({ name }) => name === "demo") ?? {};
      // They are killed: 0 would mean ourselves and all around us.
      if (!pid || !keeper) throw new Fault("REFUSED", "The demo's agent has no keeper, which needs Linux or macOS");
      return { agent: pid, keeper };
    },
    async stream(lines, everyMs) {
      return followLines(clock, connection, await prompt(`stream ${lines} ${everyMs}`));
    },
    async ask(text) {
      const asked = await prompt(text);
      let said = "";
      const stop = connection.on("agent-events", ({ session, events }) => {
        for (const { data } of session === SESSION ? events : []) {
          const { sessionUpdate, content } = (data["update"] ?? {}) as Update;
          if (sessionUpdate === "agent_message_chunk") said += content?.text ?? "";
        }
      });
      await followLines(clock, connection, asked).ended;
      stop();
      return said.trim();
    },
  };
}

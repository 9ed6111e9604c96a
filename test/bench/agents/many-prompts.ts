// How are thousands of prompts asked in little time? Here, as the command asks them: each on a connection of its own.
import { join } from "node:path";
import { BridgeConnection } from "../../../src/library.ts";
import type { Yard } from "../support/yard.ts";

export interface ManyPrompts {
  /** One after the other; without a session each has its own, which is closed behind it. */
  ask(count: number, session?: string): Promise<void>;
}

export function manyPrompts(yard: Yard, port: number): ManyPrompts {
  const stateDirectory = join(yard.env["XDG_STATE_HOME"] ?? "", "holdfast");
  const env = { PATH: yard.env["PATH"] ?? "" };
  const one = async (session?: string): Promise<void> => {
    const connection = await BridgeConnection.connect({ port, standing: false, stateDirectory, notice() {} });
    const promptId = crypto.randomUUID();
    const ended = new Promise<void>((resolve) => {
      connection.on("agent-events", ({ events }) => {
        if (events.some(({ type, data }) => type === "turn-ended" && data["promptId"] === promptId)) resolve();
      });
    });
    await connection.askAgents({
      verb: "prompt",
      agent: "demo",
      cwd: yard.directory,
      text: "hi",
      policy: "deny",
      promptId,
      detach: false,
      attach: true,
      env,
      ...(session === undefined ? { closes: true } : { session }),
    });
    await ended;
    await connection.disconnect();
  };
  return {
    async ask(count, session) {
      for (let asked = 0; asked < count; asked++) {
        if (yard.over.aborted) throw new Error("The benchmark was ended");
        await one(session);
      }
    },
  };
}

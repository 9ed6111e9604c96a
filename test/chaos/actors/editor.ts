// Who edits? An ACP client that prompts, answers questions, is killed in mid-turn, and loads its session again.
import type { Command } from "../history.ts";
import type { Work } from "../work.ts";
import type { Answer, PipePeer } from "./pipe-peer.ts";
import { openPeer } from "./pipe-peer.ts";
import { endQuestions } from "./questions.ts";
import type { Scene } from "./scene.ts";

const EXITS: Readonly<Record<string, number>> = {
  AGENT_LOST: 5,
  SESSION_DISCONNECTED: 5,
  HOST_UNREACHABLE: 4,
  TIMEOUT: 6,
};

/** As an exit code would tell it. */
export function settle(command: Command, { result, error, isGone }: Answer, peer: Command): void {
  command.endedAt = Date.now();
  if (isGone) {
    // It shares the fate of its process, and that is judged there.
    command.signal = "SIGKILL";
    command.told.push({ at: Date.now(), signal: "SIGKILL" });
    if (peer.told.length === 0) command.told.length = 0;
    return;
  }
  if (error) command.err = JSON.stringify(error);
  const stopReason = result?.["stopReason"];
  command.code = error ? (EXITS[String(error.data?.["code"])] ?? 1) : stopReason === "cancelled" ? 1 : 0;
}

/** In front of it may stand the rest of a turn that went on while there was no editor. */
export function endsWhole({ isWhole }: Pick<Work, "isWhole">, said: string): boolean {
  for (let from = 0; from < said.length; from = said.indexOf("\n", from) + 1 || said.length)
    if (isWhole(said.slice(from))) return true;
  return false;
}

interface Update {
  sessionUpdate?: string;
  content?: { text?: string };
}

export async function edit({ yard, works, dice, isOver, pause, sessions }: Scene): Promise<void> {
  let sessionId: string | undefined;
  while (!isOver()) {
    let said = "";
    let asks = true;
    const peer: PipePeer = openPeer(yard, "acp", ["acp", "demo"], {
      asked: (method) => {
        if (method !== "session/request_permission") return undefined;
        return {
          outcome: asks ? { outcome: "selected", optionId: dice.pick(["yes", "no"]) } : { outcome: "cancelled" },
        };
      },
      told(_, params) {
        const update = params["update"] as Update | undefined;
        if (update?.sessionUpdate === "agent_message_chunk") said += update.content?.text ?? "";
      },
    });
    await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const where = { cwd: yard.env["HOME"], mcpServers: [] };
    const opening = yard.record("acp-open", ["acp", sessionId ? "session/load" : "session/new"], {});
    const opened: Answer = sessionId
      ? await peer.request("session/load", { ...where, sessionId })
      : await peer.request("session/new", where);
    settle(opening, opened, peer.running.command);
    if (opened.result && !sessionId) {
      sessionId = String(opened.result["sessionId"]);
      sessions.push(sessionId);
    }
    for (let turns = dice.whole(1, 5); turns > 0 && !isOver() && sessionId && !opened.error; turns--) {
      const work = works.any(dice);
      const about = { session: sessionId, text: work.text };
      const command = yard.record("prompt", ["acp session/prompt", work.text], about);
      said = "";
      const prompt = [{ type: "text", text: work.text }];
      const cancels = dice.chance(0.15);
      asks = !cancels;
      const answer = peer.request("session/prompt", { sessionId, prompt });
      if (cancels) {
        command.about.isCancelled = true;
        await pause(dice.between(0, 300));
        peer.notify("session/cancel", { sessionId });
      } else if (dice.chance(0.15)) {
        await pause(dice.between(0, 300));
        if (!peer.running.isOver()) peer.running.tell("SIGKILL");
      }
      const settled = await answer;
      settle(command, settled, peer.running.command);
      if (command.code === 0 && !endsWhole(work, said)) command.about.saw = said;
      if (settled.isGone) break;
    }
    await peer.leave();
    await pause(dice.between(0, 400));
  }
  if (sessionId) await endQuestions(yard, sessionId);
}

// Who calls tools? An MCP client that prompts and executes, and a shell that executes: each token is appended once at most.
import type { Running } from "../yard.ts";
import { settle } from "./editor.ts";
import { openPeer } from "./pipe-peer.ts";
import type { Scene } from "./scene.ts";

export const tokensFile = (scene: Scene): string => `${scene.yard.directory}/work/tokens`;

const codeFor = (scene: Scene, token: string): string => {
  const delay = scene.dice.chance(0.3)
    ? `await new Promise((done) => setTimeout(done, ${scene.dice.whole(5, 80)})); `
    : "";
  return `${delay}require("node:fs").appendFileSync(${JSON.stringify(tokensFile(scene))}, "\\n${token}\\n")`;
};

/** A JavaScript session that is started again when it is gone. */
export async function keepPlugin({ yard, dice, isOver, pause, onOver }: Scene): Promise<void> {
  let plugin: Running | undefined;
  onOver(() => {
    if (plugin && !plugin.isOver()) plugin.tell("SIGTERM");
  });
  while (!isOver()) {
    if (!plugin || plugin.isOver()) {
      plugin = yard.start("plugin", ["plugin", "js", "--json", "--instance", "chaos"], {
        deadlineMs: Number.POSITIVE_INFINITY,
      });
    }
    await pause(dice.between(50, 300));
  }
}

let tokens = 0;

export async function execute(scene: Scene): Promise<void> {
  const { yard, dice, isOver, pause } = scene;
  while (!isOver()) {
    const token = `exec-${++tokens}`;
    await yard.run("exec", ["exec", codeFor(scene, token), "--json"], { about: { token } });
    await pause(dice.between(0, 300));
  }
}

export async function callTools(scene: Scene): Promise<void> {
  const { yard, works, dice, isOver, pause } = scene;
  while (!isOver()) {
    const peer = openPeer(yard, "mcp", ["mcp"], {});
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "chaos", version: "1" } };
    await peer.request("initialize", hello);
    peer.notify("notifications/initialized", {});
    for (let calls = dice.whole(2, 8); calls > 0 && !isOver() && !peer.running.isOver(); calls--) {
      const kind = dice.pick(["prompt", "prompt", "exec", "sessions"]);
      const work = works.echo();
      const token = `exec-${++tokens}`;
      const about = { prompt: { text: work.text }, exec: { token }, sessions: {} }[kind] ?? {};
      const values = {
        prompt: { agent: "demo", text: work.text },
        exec: { code: codeFor(scene, token) },
        sessions: {},
      };
      const command = yard.record(kind, [`mcp ${kind}`, work.text], about);
      const answer = await peer.request("tools/call", {
        name: kind,
        arguments: values[kind as keyof typeof values],
      });
      settle(command, answer, peer.running.command);
      const { isError, content } = (answer.result ?? {}) as { isError?: boolean; content?: { text?: string }[] };
      if (isError) command.code = exitOf(content?.at(-1)?.text ?? "");
      if (isError) command.err = content?.at(-1)?.text ?? "";
      await pause(dice.between(0, 200));
    }
    await peer.leave();
  }
}

/** A tool's failure tells the exit code that its command would have had. */
function exitOf(text: string): number {
  try {
    return Number(JSON.parse(text).error.exitCode);
  } catch {
    return 1;
  }
}

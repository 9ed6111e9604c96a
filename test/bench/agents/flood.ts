// How fast do updates get from the agent to an attached client? Journaled on their way, beside the same agent on a bare pipe.
import { inTurns } from "../support/in-turns.ts";
import { type Row, told } from "../support/table.ts";
import type { Child, Message, Yard } from "../support/yard.ts";
import { startWarmHost } from "./warm-host.ts";

export interface FloodSize {
  rounds: number;
  updates: number;
}

const perSecond = (updates: number, since: number): number => updates / ((performance.now() - since) / 1_000);
const seen = ({ messages }: Child, wanted: (message: Message) => boolean) => messages.filter(wanted).length;
const isEnd = ({ type }: Message): boolean => type === "turn-ended";

/** The agent alone: its lines are counted, and only its answer is looked at. */
export async function floodBare(yard: Yard, binary: string, updates: number): Promise<number> {
  const agent = Bun.spawn([binary, "demo-agent"], { env: yard.env, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  yard.over.addEventListener("abort", () => agent.kill("SIGKILL"), { once: true });
  const reader = agent.stdout.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  const ask = (id: number, method: string, params: Message): void => {
    agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    agent.stdin.flush();
  };
  const answer = async (id: number): Promise<{ line: string; lines: number }> => {
    for (let lines = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) throw new Error("The agent ended");
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      lines += parts.length;
      const line = parts.find((part) => part.includes(`"id":${id},`));
      if (line !== undefined) return { line, lines };
    }
  };
  ask(1, "initialize", { protocolVersion: 1 });
  await answer(1);
  ask(2, "session/new", { cwd: "/", mcpServers: [] });
  const { sessionId } = JSON.parse((await answer(2)).line).result;
  const since = performance.now();
  ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: `flood ${updates}` }] });
  const { lines } = await answer(3);
  const rate = perSecond(updates, since);
  if (lines !== updates + 1) throw new Error(`The pipe had ${lines} lines`);
  await agent.stdin.end();
  await agent.exited;
  return rate;
}

export async function flood(yard: Yard, binary: string, { rounds, updates }: FloodSize): Promise<Row[]> {
  const host = await startWarmHost(yard, binary);
  await host.run("prompt", "demo", "hi", "--session", "flood");
  const client = yard.start(host.command("attach", "flood", "--json"));
  await client.message(isEnd, "the first turn");
  const floodAttached = async (): Promise<number> => {
    const ends = seen(client, isEnd);
    const before = client.messages.length;
    const since = performance.now();
    await host.run("prompt", "demo", `flood ${updates}`, "--session", "flood", "--detach");
    await client.message(isEnd, "the end of the flood", before);
    const rate = perSecond(updates, since);
    if (seen(client, isEnd) !== ends + 1) throw new Error("Another turn ended");
    return rate;
  };
  const { bare, ours, ratio } = await inTurns(rounds, () => floodBare(yard, binary, updates), floodAttached);
  client.signal("SIGINT");
  await client.exited;
  await host.end();
  const rate = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
  return [
    told("Updates/s to an attached client", rate(ours), `${updates.toLocaleString("en")} each time, journaled`),
    told("The same, to a bare pipe", `${ratio.toFixed(2)} ×`, `bare ${rate(bare)}`),
  ];
}

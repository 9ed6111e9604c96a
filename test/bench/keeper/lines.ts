// What does it cost that an agent's output goes through a file? The same agent on a bare pipe, in turns.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/platform/clock.ts";
import { startHeld } from "../../../src/platform/held-agent.ts";
import { tailFile } from "../../../src/platform/tail.ts";
import { createLineSplitter } from "../../../src/rpc/lines.ts";
import { floodBare } from "../agents/flood.ts";
import { inTurns } from "../support/in-turns.ts";
import { type Row, told } from "../support/table.ts";
import { type Message, until, type Yard } from "../support/yard.ts";

/** As a keeper holds it and a host reads it; no socket, no journal. */
async function floodHeld(yard: Yard, binary: string, updates: number): Promise<number> {
  const directory = mkdtempSync(join(yard.directory, "held-"));
  for (const name of ["out", "err"]) writeFileSync(join(directory, name), "", { mode: 0o600 });
  const command = { command: binary, args: ["demo-agent"], env: yard.env, cwd: "/", tag: crypto.randomUUID() };
  const agent = startHeld(systemClock, directory, command);
  const end = (): void => agent.closeInput();
  yard.over.addEventListener("abort", end, { once: true });
  let lines = 0;
  let last = "";
  const splitter = createLineSplitter({
    line(text) {
      lines++;
      last = text;
    },
    tooLong() {},
  });
  const tail = tailFile(systemClock, join(directory, "out"), 0, (bytes) => splitter.push(bytes));
  const ask = async (id: number, method: string, params: Message): Promise<Message> => {
    await agent.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answered = () => (last.includes(`"id":${id},`) ? (JSON.parse(last).result as Message) : undefined);
    return await until(answered, () => `the answer to ${method}`);
  };
  await ask(1, "initialize", { protocolVersion: 1 });
  const { sessionId } = await ask(2, "session/new", { cwd: "/", mcpServers: [] });
  const before = lines;
  const since = performance.now();
  await ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: `flood ${updates}` }] });
  const rate = updates / ((performance.now() - since) / 1_000);
  if (lines - before !== updates + 1) throw new Error(`The file had ${lines - before} lines`);
  tail.stop();
  end();
  await agent.exited;
  yard.over.removeEventListener("abort", end);
  rmSync(directory, { recursive: true, force: true });
  return rate;
}

export async function lines(yard: Yard, binary: string, size: { rounds: number; updates: number }): Promise<Row[]> {
  const { rounds, updates } = size;
  const { bare, ours, ratio } = await inTurns(
    rounds,
    () => floodBare(yard, binary, updates),
    () => floodHeld(yard, binary, updates),
  );
  const rate = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
  return [
    told(
      "Lines/s through a keeper's file, to bare pipe",
      `${ratio.toFixed(2)} ×`,
      `bare ${rate(bare)}, ours ${rate(ours)}`,
    ),
  ];
}

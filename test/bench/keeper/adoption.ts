// What does a long history cost the next host? Made by the binary; read by its own modules here, and by a host started cold.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readCheckpoint, startFrom } from "../../../src/agents/checkpoint.ts";
import { openJournal } from "../../../src/agents/journal.ts";
import { createShelf } from "../../../src/agents/shelf.ts";
import { readInputs } from "../../../src/keeper/input-log.ts";
import { placeAt } from "../../../src/keeper/place.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { systemFiles } from "../../../src/platform/files.ts";
import { tailFile } from "../../../src/platform/tail.ts";
import { createLineSplitter } from "../../../src/rpc/lines.ts";
import { startWarmHost } from "../agents/warm-host.ts";
import { median } from "../support/statistics.ts";
import { atMostMs, ms, type Row, told } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";
import { coldGaps } from "./gap.ts";
import { createBroom } from "./stream-client.ts";

const MIB = 1024 * 1024;
const ROUNDS = 9;
const NAME = "stream";

const timed = (work: () => void): number => {
  const since = performance.now();
  work();
  return performance.now() - since;
};

/** What a host does with one agent and its session before it goes on, without its sockets. */
function adopt(directory: string): void {
  const place = placeAt(systemFiles, join(directory, "keepers", readdirSync(join(directory, "keepers"))[0] ?? ""));
  const from = readCheckpoint(systemFiles.readPrivate(place.checkpoint));
  startFrom(from, readInputs(systemFiles, place.inputLog, from.in));
  const journal = createShelf(systemClock, systemFiles, join(directory, "sessions")).find(NAME);
  const splitter = createLineSplitter({ line: (text) => void JSON.parse(text), tooLong() {} }, undefined, from.out);
  const tail = tailFile(systemClock, place.out, from.out, (bytes) => splitter.push(bytes));
  tail.drain();
  tail.stop();
  journal?.close();
}

export async function adoption(yard: Yard, binary: string, size: { mib: number; deaths: number }): Promise<Row[]> {
  const host = await startWarmHost(yard, binary);
  const port = Number(host.command().at(-1));
  const sweep = createBroom(yard, binary, port);
  const directory = join(yard.env["XDG_STATE_HOME"] ?? "", "holdfast", "ports", String(port));
  const path = join(directory, "sessions", `${NAME}.ndjson`);
  const bytes = (): number => statSync(path).size;
  do {
    await host.run("prompt", "demo", `flood ${Math.min(200_000, size.mib * 5_000)}`, "--session", NAME);
  } while (bytes() < size.mib * MIB);
  const took = Array.from({ length: ROUNDS }, () => timed(() => adopt(directory)));
  const whole = timed(() => openJournal(systemFiles.journal(path), () => "").close());
  const history = `${(bytes() / MIB).toFixed(0)} MiB of history`;
  const cold = await coldGaps(yard, binary, port, size.deaths);
  await sweep();
  await host.end();
  return [
    atMostMs(
      "Adopting a long history from its checkpoint",
      50,
      median(took),
      `${history}, by the modules; read as a whole ${ms(whole)}`,
    ),
    told("kill -9 to the next line, cold, with that history", ms(median(cold)), `p50 of ${cold.length} deaths`),
  ];
}

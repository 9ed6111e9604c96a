// How does a line come to the agent? One after the other: recorded, written, marked, acknowledged; none passes another.
import type { HeldAgent } from "../platform/agent-world.ts";
import type { Clock } from "../platform/world.ts";
import { isAnswerKey } from "../rpc/json-rpc.ts";
import type { Input, InputLog } from "./input-log.ts";
import type { KeeperLine } from "./wire.ts";

export interface InputWriter {
  write(input: Input): void;
  /** Whoever comes now may know nothing of what was refused. */
  hostChanged(): void;
}

const DISK_RETRY_MS = 250;

export function createInputWriter(
  clock: Clock,
  inputs: InputLog,
  agent: HeldAgent,
  ready: Promise<void>,
  tell: (line: KeeperLine) => void,
): InputWriter {
  const waiting: Input[] = [];
  let busy = false;
  /** The first that found no room: those behind it are refused until it is asked again, or they would pass it. */
  let refused: string | undefined;

  const record = (input: Input): void => {
    if (refused !== undefined && refused !== input.key) throw new Error(`"${refused}" was refused and comes first`);
    refused = input.key;
    inputs.record(input);
    refused = undefined;
  };

  const mark = async (key: string): Promise<void> => {
    for (;;) {
      try {
        return inputs.mark(key);
      } catch {
        // It is written; that this is not on record yet must not look like doubt for longer than the disk is full.
        await clock.sleep(DISK_RETRY_MS);
      }
    }
  };

  const pump = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    await ready;
    for (let input = waiting.shift(); input; input = waiting.shift()) {
      const { key, line } = input;
      const isAgain = isAnswerKey(key) && inputs.isUnsure(key);
      if (isAgain || !inputs.has(key)) {
        try {
          if (!isAgain) record(input);
        } catch (thrown) {
          tell({ told: "refused", key, why: thrown instanceof Error ? thrown.message : String(thrown) });
          continue;
        }
        await agent.write(`${line}\n`);
        await mark(key);
      }
      tell({ told: "taken", key, end: inputs.end });
    }
    busy = false;
  };

  return {
    write(input) {
      waiting.push(input);
      void pump();
    },
    hostChanged() {
      refused = undefined;
    },
  };
}

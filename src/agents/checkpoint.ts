// From where does the next host go on with an agent? What is pending in both directions, and how far was read.
import type { KeptAgent } from "../platform/agent-world.ts";
import type { Clock } from "../platform/world.ts";
import type { InitializeResult } from "../protocol/acp.ts";
import type { OpenQuestion, OpenRequest } from "../rpc/json-rpc.ts";
import type { RpcMessage } from "../rpc/rpc-message.ts";
import type { AcpClient, AcpStart } from "./acp-client.ts";

export interface AgentCheckpoint {
  /** Its output is in the journals up to here. */
  out: number;
  /** Its input is accounted for up to here. */
  in: number;
  initialized: InitializeResult | undefined;
  requests: OpenRequest[];
  questions: OpenQuestion[];
}

const NOTHING: AgentCheckpoint = { out: 0, in: 0, initialized: undefined, requests: [], questions: [] };

/** So much output is quickly read again. */
const SHORT_BYTES = 32 * 1024;
const LONG_BYTES = 64 * 1024;
/** Not oftener, however much is said. */
const SPACING_MS = 100;

/** Written by hosts and private: its parts are as they were when a host had checked them. */
export function readCheckpoint(text: string | undefined): AgentCheckpoint {
  try {
    const read: Partial<AgentCheckpoint> = text === undefined ? {} : JSON.parse(text);
    return { ...NOTHING, ...read };
  } catch {
    return NOTHING;
  }
}

/** What was written to the agent since then, added up. */
export function startFrom(from: AgentCheckpoint, inputs: readonly { key: string; line: string }[]): AcpStart {
  const requests = new Map(from.requests.map((request) => [request.id, request]));
  const answered = new Set<string>();
  for (const { key, line } of inputs) {
    const { id, method } = JSON.parse(line) as RpcMessage;
    if (typeof id === "number" && method !== undefined) requests.set(id, { id, key, method });
    else if (id !== undefined && method === undefined) answered.add(key);
  }
  return { initialized: from.initialized, requests: [...requests.values()], answered };
}

export interface CheckpointsDeps {
  clock: Clock;
  client: AcpClient;
  from: number;
  /** Where the next whole line of output begins. */
  out(): number;
  kept(): KeptAgent | undefined;
  isWritten(): boolean;
  /** Its files only grow: a new process is wanted, and asked for again whenever something may have ended. */
  full(): void;
}

export interface Checkpoints {
  /** There was output. */
  grew(): void;
  /** A turn has ended. */
  settled(): void;
  /** It has said who it is: the next host need not ask. */
  connected(): void;
}

export function createCheckpoints(deps: CheckpointsDeps): Checkpoints {
  const { clock, client, from, out, kept, isWritten } = deps;
  let last = from;
  let lastAt = Number.NEGATIVE_INFINITY;
  let planned = false;
  let isFull = false;

  const tellFull = (): void => {
    if (isFull) clock.after(0, deps.full);
  };
  const take = (): void => {
    planned = false;
    const agent = kept();
    const { initialized, open } = client;
    const { requests, questions } = open;
    // With a session just being opened, or something on its way, there is more to know than this.
    const isQuiet = initialized && requests.every(({ method }) => method === "session/prompt");
    if (!agent || agent.inputEnd === undefined || !isQuiet || !isWritten()) return;
    last = out();
    lastAt = clock.elapsed();
    const checkpoint: AgentCheckpoint = { out: last, in: agent.inputEnd, initialized, requests, questions };
    try {
      agent.checkpoint(JSON.stringify(checkpoint));
      void agent.giveBack(last, agent.inputEnd ?? 0).then((given) => {
        isFull ||= !given;
        tellFull();
      });
    } catch {
      // A full disk: then the next host reads more.
    }
  };
  /** When everything that the last output caused has been done. */
  const plan = (): void => {
    if (planned) return;
    planned = true;
    clock.after(0, take);
  };
  return {
    grew() {
      tellFull();
      if (out() - last > LONG_BYTES && clock.elapsed() - lastAt > SPACING_MS) plan();
    },
    connected: plan,
    settled() {
      tellFull();
      if (out() - last > SHORT_BYTES) plan();
    },
  };
}

// How does a test open bridges? The real openBridge in a fake process, with everything it tells written down.
import { type BridgeOptions, openBridge } from "../../src/bridge/bridge.ts";
import type { BridgeConnection, ConnectionEvents } from "../../src/bridge/connection.ts";
import type { HandOffState } from "../../src/bridge/hand-off.ts";
import { createHosting } from "../../src/bridge/hosting.ts";
import { createState } from "../../src/bridge/state.ts";
import type { FakeProcess, Machine } from "./fake-world.ts";

export const PORT = 38_741;
export const STATE_DIRECTORY = "/home/user/.local/state/holdfast";

export interface Opened {
  readonly process: FakeProcess;
  readonly bridge: BridgeConnection;
  readonly states: HandOffState[];
  readonly notices: string[];
  readonly told: { name: keyof ConnectionEvents; data: unknown }[];
}

export type OpenOptions = Partial<BridgeOptions> & { process?: FakeProcess };

export const stateOf = (process: FakeProcess) => createState(process.world, STATE_DIRECTORY);

const EVENTS = [
  "session-connected",
  "session-disconnected",
  "session-changed",
  "role-changed",
  "host-lost",
  "host-found",
  "ended",
] as const;

export async function opening(machine: Machine, options: OpenOptions = {}): Promise<Opened> {
  const { process = machine.process(), listener, ...rest } = options;
  const states: HandOffState[] = [];
  const notices: string[] = [];
  const told: Opened["told"] = [];
  const bridge = await openBridge(process.world, {
    port: PORT,
    mode: "standing",
    state: stateOf(process),
    hosting: createHosting,
    ...rest,
    listener: {
      ...listener,
      handOff(state) {
        states.push(state);
        listener?.handOff?.(state);
      },
      notice: (message) => void notices.push(message),
    },
  });
  for (const name of EVENTS) bridge.on(name, (data) => void told.push({ name, data }));
  return { process, bridge, states, notices, told };
}

/** Opened, and everything that follows from it has happened. */
export function open(machine: Machine, options?: OpenOptions): Opened {
  const opened = machine.wait(opening(machine, options));
  machine.advance(5);
  return opened;
}

/** The first is host, the others stand in line behind it in this order. */
export function openLine(machine: Machine, clients: number): [host: Opened, ...line: Opened[]] {
  const host = open(machine);
  return [host, ...Array.from({ length: clients }, () => open(machine))];
}

/** What became of a promise so far. */
export function watch<Value>(promise: Promise<Value>): { state: "pending" | "done" | "failed"; error?: unknown } {
  const watched: { state: "pending" | "done" | "failed"; error?: unknown } = { state: "pending" };
  promise.then(
    () => {
      watched.state = "done";
    },
    (error) => {
      watched.state = "failed";
      watched.error = error;
    },
  );
  return watched;
}

// Who else can hold the port? A process that is no use: it says nothing, answers 503, or is some other program.
import type { HttpAnswer } from "../../src/platform/world.ts";
import { PORT } from "./bridges.ts";
import type { FakeProcess, Machine } from "./fake-world.ts";

export type Uselessness = "mute" | "closing" | "web-server";

const ANSWERS: Record<Uselessness, (upgrade: boolean) => HttpAnswer> = {
  mute: (upgrade) =>
    upgrade
      ? { kind: "upgrade", attach: () => ({ message() {}, pong() {}, closed() {} }) }
      : { kind: "text", status: 503, body: "" },
  closing: () => ({ kind: "text", status: 503, body: "" }),
  "web-server": (upgrade) => ({ kind: "text", status: upgrade ? 404 : 200, body: "<h1>It works</h1>" }),
};

/** Undefined: the port was not free. */
export function squat(machine: Machine, how: Uselessness): FakeProcess | undefined {
  const squatter = machine.process();
  const answer = ({ upgrade }: { upgrade: boolean }) => ANSWERS[how](upgrade);
  const limits = { frameBytes: 1, waitingBytes: 1 };
  const bound = squatter.world.net.bind({ address: "127.0.0.1", port: PORT, ...limits, answer });
  return bound.kind === "bound" ? squatter : undefined;
}

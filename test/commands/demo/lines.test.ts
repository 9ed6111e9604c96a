// Are lost and doubled lines counted, as they come from a session?
import { expect, test } from "bun:test";
import type { BridgeConnection, ConnectionEvents } from "../../../src/bridge/connection.ts";
import { countLines, followLines, type Lines } from "../../../src/commands/demo/lines.ts";
import { createEmitter } from "../../../src/core/emitter.ts";
import type { SessionRecord } from "../../../src/protocol/agents.ts";
import { createMachine } from "../../support/fake-world.ts";

const PROMPT = "prompt-1";

/** A turn that says these numbers, as a host would tell it. */
async function follow(numbers: readonly number[], end: Record<string, unknown>): Promise<Lines> {
  const emitter = createEmitter<ConnectionEvents>((thrown) => {
    throw thrown;
  });
  const connection = { on: emitter.on, askAgents: async () => ({}), acknowledge() {} } as unknown as BridgeConnection;
  const { clock } = createMachine().process();
  const lines = followLines(clock, connection, { session: "demo", after: 0, promptId: PROMPT });
  const record = (seq: number, type: string, data: object) => ({ seq, at: "", type, data }) as SessionRecord;
  const said = numbers.map((number, index) =>
    record(index + 1, "update", { update: { content: { type: "text", text: `chunk ${number}\n` } } }),
  );
  emitter.emit("agent-events", { session: "demo", events: said });
  emitter.emit("agent-events", { session: "demo", events: [record(numbers.length + 1, "turn-ended", end)] });
  await lines.ended;
  return lines;
}

const DONE = { promptId: PROMPT, stopReason: "end_turn" };

test("each line once: none is lost, none doubled, and the turn's end is told", async () => {
  const lines = await follow([1, 2, 3], DONE);
  expect(lines.outcome(3)).toEqual({ lines: 3, lost: 0, doubled: 0 });
  expect((await lines.ended).stopReason).toBe("end_turn");
});

test("a line that does not come is lost, and one that comes again is doubled", async () => {
  expect((await follow([1, 3], DONE)).outcome(3)).toEqual({ lines: 2, lost: 1, doubled: 0 });
  expect((await follow([1, 2, 2, 3], DONE)).outcome(3)).toEqual({ lines: 3, lost: 0, doubled: 1 });
});

test("a line that nobody wanted makes up for none that is missing", () => {
  const seen = new Map([1, 2, 9].map((number) => [number, 1]));
  expect(countLines(seen, 3)).toEqual({ lines: 3, lost: 1, doubled: 0 });
});

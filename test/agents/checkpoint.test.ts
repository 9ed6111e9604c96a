// When does a host write down where the next one goes on, and what does that one make of it?
import { describe, expect, test } from "bun:test";
import { AcpClient, promptKey } from "../../src/agents/acp-client.ts";
import { createCheckpoints, readCheckpoint, startFrom } from "../../src/agents/checkpoint.ts";
import type { KeptAgent } from "../../src/platform/agent-world.ts";
import { messageOf } from "../../src/protocol/fault.ts";
import { createMachine } from "../support/fake-world.ts";
import { CAPABILITIES } from "./fake-agent.ts";

const INITIALIZED = { protocolVersion: 1, agentCapabilities: CAPABILITIES, authMethods: [] };
const MIB = 1024 * 1024;
const KIB = 1024;

function openStage(from = 0) {
  const machine = createMachine();
  const { clock } = machine.process();
  const sent: { key: string | undefined; message: Record<string, unknown> }[] = [];
  const client = new AcpClient(clock, (line, key) => void sent.push({ key, message: JSON.parse(line) }), {
    update() {},
    permission: () => new Promise(() => {}),
    withdrawn() {},
  });
  const taken: string[] = [];
  const givenBack: number[] = [];
  const stage = { out: from, inputEnd: 10 as number | undefined, isWritten: true, full: false, holes: true, wanted: 0 };
  const kept = {
    get inputEnd() {
      return stage.inputEnd;
    },
    checkpoint(text: string) {
      if (stage.full) throw new Error("ENOSPC");
      taken.push(text);
    },
    async giveBack(offset: number) {
      givenBack.push(offset);
      return stage.holes;
    },
  } as unknown as KeptAgent;
  const checkpoints = createCheckpoints({
    clock,
    client,
    from,
    out: () => stage.out,
    kept: () => kept,
    isWritten: () => stage.isWritten,
    full: () => void stage.wanted++,
  });
  const say = (message: object): void => client.receive(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const ready = (): void => {
    void client.initialize();
    say({ id: 0, result: INITIALIZED });
    machine.advance(0);
  };
  const grow = (bytes: number): void => {
    stage.out += bytes;
    checkpoints.grew();
    machine.advance(1);
  };
  const settle = (): void => {
    checkpoints.settled();
    machine.advance(1);
  };
  const connected = (): void => {
    checkpoints.connected();
    machine.advance(1);
  };
  return { machine, client, sent, say, stage, taken, givenBack, ready, grow, settle, connected };
}

describe("taking one", () => {
  test("[KP4] at a turn's end with some output behind it, and every 64 KiB in between; not for every line", () => {
    const { machine, ready, grow, settle, taken, givenBack } = openStage();
    ready();
    grow(1_000);
    settle();
    expect(taken).toEqual([]);
    grow(40 * KIB);
    expect(taken).toEqual([]);
    settle();
    expect(taken).toHaveLength(1);
    settle();
    machine.advance(100);
    grow(64 * KIB);
    expect(taken).toHaveLength(1);
    grow(1);
    expect(taken).toHaveLength(2);
    expect(givenBack).toEqual([1_000 + 40 * KIB, 1_001 + 104 * KIB]);
  });

  test("[KP4] not oftener than ten times a second, however much is said; and at once when it has said who it is", () => {
    const { machine, ready, grow, taken, connected } = openStage();
    ready();
    connected();
    expect(taken).toHaveLength(1);
    for (let flood = 0; flood < 20; flood++) grow(MIB);
    expect(taken).toHaveLength(1);
    machine.advance(100);
    grow(MIB);
    expect(taken).toHaveLength(2);
  });

  test("[KP9] room that cannot be given back: a new process is asked for, again at each output and turn's end, and never where it can", () => {
    const { machine, ready, grow, settle, stage } = openStage();
    ready();
    grow(MIB);
    settle();
    expect(stage.wanted).toBe(0);
    stage.holes = false;
    machine.advance(100);
    grow(MIB);
    expect(stage.wanted).toBe(1);
    grow(1);
    settle();
    expect(stage.wanted).toBe(3);
  });

  test("[KP4] it holds offsets of both directions, the handshake, our prompts and the agent's questions", () => {
    const { ready, grow, taken, client, say } = openStage();
    ready();
    client.prompt("s", [], "p-1").catch(() => undefined);
    const params = { sessionId: "s", toolCall: { toolCallId: "t" }, options: [] };
    say({ id: "q", method: "session/request_permission", params });
    grow(2 * MIB);
    expect(readCheckpoint(taken[0])).toEqual({
      out: 2 * MIB,
      in: 10,
      initialized: INITIALIZED as never,
      requests: [{ id: 1, key: promptKey("p-1"), method: "session/prompt" }],
      questions: [{ id: "q", method: "session/request_permission", params }],
    });
  });

  test("[KP4] not while something is unacknowledged: what the keeper does not have would be forgotten", () => {
    const { ready, grow, taken, stage } = openStage();
    ready();
    stage.inputEnd = undefined;
    grow(2 * MIB);
    expect(taken).toEqual([]);
    stage.inputEnd = 11;
    grow(1);
    expect(readCheckpoint(taken[0])).toMatchObject({ in: 11, out: 2 * MIB + 1 });
  });

  test("[KP4] not while a session is being opened, nor before the handshake", () => {
    const { ready, grow, taken, client, say } = openStage();
    grow(2 * MIB);
    expect(taken).toEqual([]);
    ready();
    client.newSession({ cwd: "/", mcpServers: [] }, "new work 0").catch(() => undefined);
    grow(2 * MIB);
    expect(taken).toEqual([]);
    say({ id: 1, result: { sessionId: "s" } });
    grow(1);
    expect(taken).toHaveLength(1);
  });

  test("[KP4] [KP9] not while the journals are behind; and a full disk is no obstacle to the work", () => {
    const { machine, ready, grow, taken, stage } = openStage();
    ready();
    stage.isWritten = false;
    grow(2 * MIB);
    expect(taken).toEqual([]);
    stage.isWritten = true;
    stage.full = true;
    grow(2 * MIB);
    stage.full = false;
    machine.advance(100);
    grow(2 * MIB);
    expect(taken).toHaveLength(1);
  });
});

describe("going on from one", () => {
  test("[KP4] without one, or with one that nobody can read, all is read from the beginning", () => {
    const nothing = { out: 0, in: 0, initialized: undefined, requests: [], questions: [] };
    expect(readCheckpoint(undefined)).toEqual(nothing);
    expect(readCheckpoint("{torn")).toEqual(nothing);
    expect(readCheckpoint('{"out":7}')).toEqual({ ...nothing, out: 7 });
  });

  test("[KP4] what was written since is added: requests that may be open, and answers that were given", () => {
    const from = readCheckpoint(
      JSON.stringify({
        out: 1,
        in: 1,
        initialized: INITIALIZED,
        requests: [{ id: 1, key: "prompt a", method: "session/prompt" }],
      }),
    );
    const write = (key: string, message: object) => ({ key, line: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    const start = startFrom(from, [
      write("prompt b", { id: 2, method: "session/prompt" }),
      write("1.0", { method: "session/cancel" }),
      write('answer "q"', { id: "q", result: {} }),
      write("answer 5", { id: 5, error: { code: 1, message: "no" } }),
    ]);
    expect(start.requests).toEqual([
      { id: 1, key: "prompt a", method: "session/prompt" },
      { id: 2, key: "prompt b", method: "session/prompt" },
    ]);
    expect(start.answered).toEqual(new Set(['answer "q"', "answer 5"]));
    expect(start.initialized as object).toEqual(INITIALIZED);
  });

  test("[KP4] a turn that an earlier host began is claimed by its prompt's id, once, and its answer is ours", () => {
    const machine = createMachine();
    const lines: string[] = [];
    const requests = [{ id: 1_000_001, key: promptKey("p-1"), method: "session/prompt" }];
    const client = new AcpClient(
      machine.process().clock,
      (line) => void lines.push(line),
      { update() {}, permission: async () => ({ outcome: "cancelled" }), withdrawn() {} },
      { firstId: 2_000_000, requests, initialized: INITIALIZED as never },
    );
    expect(client.resumed("p-2")).toBeUndefined();
    const turn = client.resumed("p-1");
    expect(client.resumed("p-1")).toBeUndefined();
    client.receive(JSON.stringify({ jsonrpc: "2.0", id: 1_000_001, result: { stopReason: "end_turn" } }));
    expect(machine.wait(turn as Promise<unknown>)).toMatchObject({ stopReason: "end_turn" });
    expect(machine.wait(client.initialize()) as object).toEqual(INITIALIZED);
    expect(lines).toEqual([]);
    void client.newSession({ cwd: "/", mcpServers: [] }).catch(() => undefined);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ id: 2_000_000 });
  });

  test("[KP3] an outcome that nobody knows ends its turn, and another turn waits on", () => {
    const machine = createMachine();
    const requests = ["p-1", "p-2"].map((id, index) => ({ id: index, key: promptKey(id), method: "session/prompt" }));
    const client = new AcpClient(
      machine.process().clock,
      () => {},
      { update() {}, permission: async () => ({ outcome: "cancelled" }), withdrawn() {} },
      { requests },
    );
    const [one, two] = [client.resumed("p-1"), client.resumed("p-2")];
    let over = false;
    void two?.finally(() => {
      over = true;
    });
    client.giveUp([promptKey("p-1")], new Error("Not known"));
    expect(machine.wait((one as Promise<unknown>).catch(messageOf))).toBe("Not known");
    machine.advance(1_000);
    expect([over, client.open.requests.map(({ key }) => key)]).toEqual([false, [promptKey("p-2")]]);
  });
});

// Do two peers understand each other over lines? Ids of both kinds in both directions, and nothing stays open for ever.
import { describe, expect, test } from "bun:test";
import { messageOf } from "../../src/protocol/fault.ts";
import { createRpcPeer, type PeerEvents, RpcFailure, type RpcPeer } from "../../src/rpc/json-rpc.ts";
import { createDice } from "../support/dice.ts";
import { createMachine } from "../support/fake-world.ts";

type Sent = Record<string, unknown>;

function openPeer(events: Partial<PeerEvents> = {}, firstId?: number) {
  const machine = createMachine();
  const sent: Sent[] = [];
  const skipped: string[] = [];
  const told: [string, unknown][] = [];
  const peer: RpcPeer = createRpcPeer(
    machine.process().clock,
    (line) => void sent.push(JSON.parse(line)),
    {
      request: () => undefined,
      notification: (method, params) => void told.push([method, params]),
      skipped: (line) => void skipped.push(line),
      ...events,
    },
    firstId === undefined ? {} : { firstId },
  );
  return { machine, peer, sent, skipped, told, say: (message: object) => peer.receive(JSON.stringify(message)) };
}

describe("asking", () => {
  test("[AC1] requests are JSON-RPC 2.0 with ids of their own, and answers find them in any order", () => {
    const { peer, sent, say, machine } = openPeer({}, 41);
    const [one, two] = [peer.request("a", { x: 1 }), peer.request("b", undefined)];
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: 41, method: "a", params: { x: 1 } },
      { jsonrpc: "2.0", id: 42, method: "b" },
    ]);
    say({ jsonrpc: "2.0", id: 42, result: "second" });
    say({ jsonrpc: "2.0", id: 41, result: { first: true } });
    expect(machine.wait(Promise.all([one, two]))).toEqual([{ first: true }, "second"]);
    expect(peer.pending).toBe(0);
  });

  test("[AC1] the same id may be in use in both directions at once", () => {
    const { peer, sent, say, machine } = openPeer({ request: async () => "mine" });
    const asked = peer.request("a", {});
    say({ jsonrpc: "2.0", id: 0, method: "theirs" });
    machine.until(() => sent.length === 2);
    expect(sent[1]).toEqual({ jsonrpc: "2.0", id: 0, result: "mine" });
    expect(peer.pending).toBe(1);
    say({ jsonrpc: "2.0", id: 0, result: "yours" });
    expect(machine.wait(asked)).toBe("yours");
  });

  test("[AC1] an error comes with its code, its words and its data", () => {
    const { peer, say, machine } = openPeer();
    const asked = peer.request("a", {}).catch((thrown: unknown) => thrown as RpcFailure) as Promise<RpcFailure>;
    say({ jsonrpc: "2.0", id: 0, error: { code: -32002, message: "Not found", data: { sessionId: "s" } } });
    const thrown = machine.wait(asked);
    expect(thrown).toBeInstanceOf(RpcFailure);
    expect([thrown.code, thrown.message, thrown.data]).toEqual([-32002, "Not found", { sessionId: "s" }]);
  });

  test("[AC1] wrong ids, answers nobody asked for and second answers are skipped, and the right one still counts", () => {
    const { peer, say, machine, skipped } = openPeer();
    const asked = peer.request("a", {});
    say({ jsonrpc: "2.0", id: "0", result: "a string" });
    say({ jsonrpc: "2.0", id: 7, result: "nobody" });
    say({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
    say({ jsonrpc: "2.0", error: { code: -32601, message: "No id at all" } });
    expect(skipped).toHaveLength(4);
    expect(peer.pending).toBe(1);
    say({ jsonrpc: "2.0", id: 0, result: "right" });
    say({ jsonrpc: "2.0", id: 0, result: "again" });
    expect(machine.wait(asked)).toBe("right");
    expect(skipped).toHaveLength(5);
  });

  test("[AC1] lines that are no JSON, no object or no message are skipped and told; empty ones are nothing", () => {
    const { peer, skipped } = openPeer();
    const lines = ["hello", "{", "[]", '[{"id":1}]', "7", "null", '"x"', "{}", '{"id":1}', '{"method":3}', "\u0000"];
    for (const line of [...lines, "", "   "]) peer.receive(line);
    expect(skipped).toEqual(lines);
  });

  test("[AC2] a request without an answer rejects at its limit, and the other side is told with $/cancel_request", () => {
    const { peer, sent, machine, skipped, say } = openPeer();
    const asked = peer.request("session/new", {}, { timeoutMs: 100 }).catch(messageOf);
    machine.advance(99);
    expect(peer.pending).toBe(1);
    machine.advance(1);
    expect(machine.wait(asked)).toBe('No answer to "session/new" within 100 ms');
    expect(sent[1]).toEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 0 } });
    say({ jsonrpc: "2.0", id: 0, result: "late" });
    expect(skipped).toHaveLength(1);
  });

  test("[AC2] the end rejects everything pending with its reason, and whatever is asked later", () => {
    const { peer, sent, machine } = openPeer();
    const asked = ["a", "b", "c"].map((method) => peer.request(method, {}, { timeoutMs: 1_000 }).catch(messageOf));
    peer.end(new Error("It is gone"));
    peer.end(new Error("It is gone twice"));
    expect(machine.wait(Promise.all(asked), 0)).toEqual(["It is gone", "It is gone", "It is gone"]);
    expect(machine.wait(peer.request("d", {}).catch(messageOf))).toBe("It is gone");
    machine.advance(10_000);
    expect(sent).toHaveLength(3);
  });
});

describe("being asked", () => {
  test.each(["a-string", "0", 0, 17, -1, 1.5, ""])("[AC1] the id %p is answered as it came", (id) => {
    const { sent, say, machine } = openPeer({ request: async () => ({ ok: true }) });
    say({ jsonrpc: "2.0", id, method: "m", params: {} });
    machine.until(() => sent.length === 1);
    expect(sent).toEqual([{ jsonrpc: "2.0", id, result: { ok: true } }]);
  });

  test("[AC1] unknown requests get -32601, unknown notifications get nothing", () => {
    const { sent, say, told, machine } = openPeer();
    say({ jsonrpc: "2.0", id: "x", method: "fs/read_text_file", params: {} });
    say({ jsonrpc: "2.0", method: "_vendor/thing", params: { a: 1 } });
    say({ jsonrpc: "2.0", method: "$/thing" });
    machine.advance(0);
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: "x", error: { code: -32601, message: "Method not found: fs/read_text_file" } },
    ]);
    expect(told).toEqual([
      ["_vendor/thing", { a: 1 }],
      ["$/thing", undefined],
    ]);
  });

  test("[AC1] what goes wrong is answered: a failure with its code and data, anything else as internal", () => {
    const failure = new RpcFailure({ code: -32002, message: "No session", data: { sessionId: "s" } });
    const thrown: Record<string, Error> = { known: failure, bug: new Error("Oh") };
    const { sent, say, machine } = openPeer({ request: (method) => Promise.reject(thrown[method]) });
    say({ jsonrpc: "2.0", id: 1, method: "known" });
    say({ jsonrpc: "2.0", id: 2, method: "bug" });
    machine.until(() => sent.length === 2);
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32002, message: "No session", data: { sessionId: "s" } } },
      { jsonrpc: "2.0", id: 2, error: { code: -32603, message: "Oh" } },
    ]);
  });

  test("[AC1] an answer that is ready after the end is not written", () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { sent, say, peer, machine } = openPeer({ request: () => promise });
    say({ jsonrpc: "2.0", id: 1, method: "slow" });
    peer.end(new Error("gone"));
    resolve("late");
    machine.advance(0);
    expect(sent).toEqual([]);
  });
});

test("[AC1] [AC2] a thousand runs of right and wrong lines: each request ends once, and nothing throws", () => {
  for (let seed = 1; seed <= 1_000; seed++) {
    const dice = createDice(seed);
    const { peer, machine, say } = openPeer({ request: async () => 1 });
    const ends: string[] = [];
    const expected: string[] = [];
    for (let id = 0; id < 8; id++) {
      void peer.request("m", {}, { timeoutMs: 1_000 }).then(
        (result) => ends.push(`${id} ${result}`),
        (thrown) => ends.push(`${id} ${messageOf(thrown)}`),
      );
    }
    const open = new Set([0, 1, 2, 3, 4, 5, 6, 7]);
    for (let line = 0; line < 40; line++) {
      const id = dice.pick([0, 1, 2, 3, 4, 5, 6, 7, "0", "7", null, 99, undefined]);
      const body = dice.pick([{ result: "yes" }, { error: { code: 1, message: "no" } }, { method: "x" }, {}]);
      if (dice.chance(0.2)) peer.receive(dice.pick(["garbage", "{", "[1]", '"']));
      say({ ...(id === undefined ? {} : { id }), ...body });
      if (typeof id === "number" && open.has(id) && ("result" in body || "error" in body)) {
        open.delete(id);
        expected.push(`${id} ${"result" in body ? "yes" : "no"}`);
      }
    }
    peer.end(new Error("end"));
    machine.advance(2_000);
    expect(ends).toEqual([...expected, ...[...open].map((id) => `${id} end`)]);
  }
});

test("[AC1] a line nested deeper than anybody could be told is skipped, and the next one is heard", () => {
  const { peer, skipped, told } = openPeer();
  const deep = (levels: number): string =>
    `{"jsonrpc":"2.0","method":"m","params":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  peer.receive(deep(60_000));
  peer.receive(deep(950));
  expect(skipped).toHaveLength(2);
  peer.receive(deep(100));
  expect(told).toHaveLength(1);
});

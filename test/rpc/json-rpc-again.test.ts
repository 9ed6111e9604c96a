// Does a peer go on where another one was? What was asked is not asked again, what was answered is not answered again.
import { describe, expect, test } from "bun:test";
import { messageOf } from "../../src/protocol/fault.ts";
import { answerKey, createRpcPeer, type PeerEvents, type PeerStart } from "../../src/rpc/json-rpc.ts";
import { createMachine } from "../support/fake-world.ts";

function openPeer(start: PeerStart = {}, request: PeerEvents["request"] = () => undefined) {
  const machine = createMachine();
  const sent: { key: string | undefined; message: Record<string, unknown> }[] = [];
  const skipped: string[] = [];
  const peer = createRpcPeer(
    machine.process().clock,
    (line, key) => void sent.push({ key, message: JSON.parse(line) }),
    { request, notification() {}, skipped: (line) => void skipped.push(line) },
    start,
  );
  const say = (message: object): void => peer.receive(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return { machine, peer, sent, skipped, say };
}

const asked = (key: string, id = 1) => ({ id, key, method: "m" });

describe("requests of an earlier peer", () => {
  test("[KP4] the same key gets the answer to what was asked before, and nothing is sent", () => {
    const { peer, sent, say, machine } = openPeer({ firstId: 9, requests: [asked("new a #1")] });
    const answer = peer.request("m", {}, { key: "new a" });
    say({ id: 1, result: "old" });
    expect([machine.wait(answer), sent]).toEqual(["old", []]);
    void peer.request("m", {}, { key: "new a" });
    expect(sent).toMatchObject([{ key: "new a #9", message: { id: 9 } }]);
  });

  test("[KP4] an answer that came before anybody asked for it is kept for who does, an error too", () => {
    const { peer, say, machine } = openPeer({ requests: [asked("a", 1), asked("b", 2)] });
    say({ id: 1, result: "early" });
    say({ id: 2, error: { code: -1, message: "Broken" } });
    machine.advance(5);
    expect(machine.wait(peer.claim("a") as Promise<unknown>)).toBe("early");
    expect(machine.wait((peer.claim("b") as Promise<unknown>).catch(messageOf))).toBe("Broken");
    expect([peer.claim("a"), peer.pending]).toEqual([undefined, 0]);
  });

  test("[KP4] of several under one key the newest is claimed; a key that only begins alike is another one", () => {
    const { peer, say, machine } = openPeer({
      requests: [asked("new a #1", 1), asked("new a #2", 2), asked("new ab #3", 3), asked("new a 1 #4", 4)],
    });
    const claimed = peer.claim("new a");
    say({ id: 2, result: "second" });
    expect(machine.wait(claimed as Promise<unknown>)).toBe("second");
  });

  test("[KP4] its time limit counts for who asked again, and the agent is told that nobody waits", () => {
    const { peer, machine, sent } = openPeer({ requests: [asked("a #1")] });
    const answer = peer.request("m", {}, { key: "a", timeoutMs: 500 }).catch(messageOf);
    expect(machine.wait(answer as Promise<unknown>)).toContain("within 500 ms");
    expect(sent.map(({ message }) => message)).toMatchObject([
      { method: "$/cancel_request", params: { requestId: 1 } },
    ]);
    expect(peer.pending).toBe(0);
  });

  test("[KP3] once is once: its key is the same whoever asks; others carry their id", () => {
    const { peer, sent } = openPeer({ firstId: 5 });
    void peer.request("m", {}, { key: "prompt x", once: true });
    void peer.request("m", {}, { key: "new x" });
    void peer.request("m", {});
    expect(sent.map(({ key }) => key)).toEqual(["prompt x", "new x #6", "m #7"]);
    expect(peer.open.requests).toEqual([
      { id: 5, key: "prompt x", method: "m" },
      { id: 6, key: "new x #6", method: "m" },
      { id: 7, key: "m #7", method: "m" },
    ]);
  });

  test("[KP3] what is given up rejects at once, its late answer is known as such, the rest waits on", () => {
    const { peer, say, machine, skipped } = openPeer();
    const one = peer.request("m", {}, { key: "one", once: true }).catch(messageOf);
    const two = peer.request("m", {}, { key: "two", once: true });
    peer.giveUp(["one", "of somebody else"], new Error("Not known"));
    expect(machine.wait(one as Promise<unknown>)).toBe("Not known");
    say({ id: 0, result: "late" });
    say({ id: 1, result: "right" });
    expect([machine.wait(two), skipped.length]).toEqual(["right", 0]);
  });
});

describe("requests of the other side", () => {
  test("[KP4] what was answered by an earlier peer is not asked here, nor answered again", () => {
    let heard = 0;
    const request = async () => ++heard;
    const { say, sent, machine } = openPeer({ answered: new Set([answerKey("q"), answerKey(5)]) }, request);
    say({ id: "q", method: "m" });
    say({ id: 5, method: "m" });
    say({ id: "5", method: "m" });
    machine.advance(5);
    expect([heard, sent]).toEqual([1, [{ key: answerKey("5"), message: { jsonrpc: "2.0", id: "5", result: 1 } }]]);
  });

  test("[KP4] what an earlier peer was asked is asked here, and answered once, also when it is read again", () => {
    const waiting: ((answer: unknown) => void)[] = [];
    const request = () => new Promise((resolve) => void waiting.push(resolve));
    const { peer, say, sent, machine } = openPeer({}, request);
    const question = { id: "q", method: "m", params: { a: 1 } };
    peer.askedBefore(question);
    say(question);
    peer.askedBefore(question);
    expect([waiting.length, peer.open.questions]).toEqual([1, [question]]);
    waiting[0]?.("yes");
    machine.advance(1);
    expect(sent).toEqual([{ key: answerKey("q"), message: { jsonrpc: "2.0", id: "q", result: "yes" } }]);
    expect(peer.open.questions).toEqual([]);
  });
});

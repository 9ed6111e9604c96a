// How long may somebody take to say who he is? Ten seconds, for headers, hello and register.
import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { openPeer } from "../fixtures/peer.ts";
import { challengeHost, openClient } from "../fixtures/people.ts";
import { runHost } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";

setDefaultTimeout(90_000);

/** Sends these pieces, a second apart, and tells how many seconds it was let go on. */
function secondsUntilCut(port: number, first: string, drop: string): Promise<number> {
  const since = performance.now();
  return new Promise((resolve) => {
    const tcp = connect(port, "127.0.0.1", () => tcp.write(first));
    const dripping = setInterval(() => tcp.write(drop), 1_000);
    tcp.on("error", () => {});
    tcp.on("close", () => {
      clearInterval(dripping);
      resolve((performance.now() - since) / 1_000);
    });
  });
}

test("[SC4] who is slow with his headers is cut after about 10 s, also one who drips them", async () => {
  using running = runHost();
  const half = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
  const seconds = await Promise.all([
    secondsUntilCut(running.port, "", ""),
    secondsUntilCut(running.port, half, ""),
    secondsUntilCut(running.port, half, "a"),
  ]);
  // The runtime looks every four seconds; this machine may be slow as well.
  for (const each of seconds) {
    expect(each).toBeGreaterThan(8);
    expect(each).toBeLessThan(30);
  }
});

test("[SC4] a client that has not proven itself in 10 s is closed 1008, however much it talks", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const silent = await openPeer(running.url("/client"));
  const talker = await openPeer(running.url("/client"));
  const proven = await openClient(running);
  clock.advance(9_999);
  await challengeHost(talker);
  await Promise.all([silent.settled(), talker.settled()]);
  clock.advance(1);
  const end = { code: 1008, reason: "No client-hello within 10 s" };
  expect([await silent.closed, await talker.closed]).toEqual([end, end]);
  await proven.settled();
});

// Do secrets stay where they are? Not in logs, status, errors, events, close reasons or HTTP answers.
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPeer } from "../fixtures/peer.ts";
import {
  challengeHost,
  clientProof,
  envelope,
  helloFor,
  openClient,
  openPlugin,
  registerFor,
} from "../fixtures/people.ts";
import { askRaw, getRequest } from "../fixtures/raw-http.ts";
import { upgradeRequest } from "../fixtures/raw-peer.ts";
import { runHost, TOKEN } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";

setDefaultTimeout(60_000);

const pluginToken = "plugin-token-1234";

test("[SC6] neither token nor plugin token is in any log line, frame, status, close reason, event or HTTP answer", async () => {
  const clock = createTurnedClock();
  const said: unknown[] = [];
  using running = runHost({ pluginToken, world: { clock }, limits: { requestsPerSession: 1 } });
  clock.advance(0);
  const client = await openClient(running, { standing: true, pid: 7 });
  const plugin = await openPlugin(running, { query: `?token=${pluginToken}` });
  client.send({ type: "host-status", requestId: "s" });
  const { status } = await client.next("host-status-response");
  expect(status).toMatchObject({ pluginToken: true, auth: "token" });
  for (const [id, target, type] of [
    ["a", "session-1", "queryState"],
    ["b", "session-1", "queryState"],
    ["c", "nobody", "queryState"],
    ["d", "session-1", "execute"],
  ] as const) {
    client.send(envelope(id, target, type));
  }
  client.send({ type: "list-sessions", requestId: "l" });
  client.send({ type: "list-instances", requestId: "i" });
  await client.next("list-instances-response");
  // Those who are turned away.
  const wrongProof = await openPeer(running.url("/client"));
  await challengeHost(wrongProof);
  wrongProof.send(helloFor("wrong"));
  const tooOld = await openPeer(running.url("/client"));
  const { nonce, hello } = await challengeHost(tooOld);
  tooOld.send({ ...helloFor(clientProof(nonce, String(hello["nonce"]))), protocolVersion: 1 });
  const unproven = await openPeer(running.url("/plugin"));
  unproven.send(registerFor());
  const slow = [await openPeer(running.url("/client")), await openPeer(running.url("/plugin"))];
  for (const peer of slow) peer.send("{");
  await Promise.all(slow.map((peer) => peer.settled()));
  clock.advance(10_000);
  for (const peer of [wrongProof, tooOld, unproven, ...slow]) said.push(await peer.closed);
  for (const request of [
    upgradeRequest("/plugin?token=wrong"),
    upgradeRequest(`/plugin?token=${pluginToken}`, { Host: "evil.example" }),
    upgradeRequest(`/plugin?token=${pluginToken}`, { Origin: "http://evil.example" }),
    getRequest(`/plugin?token=${pluginToken}`),
    getRequest("/health"),
  ]) {
    said.push((await askRaw(running.port, request)).text);
  }
  void running.host.shutdown();
  await client.next("host-transfer");
  clock.advance(250);
  said.push(await client.closed, await plugin.closed);
  const all = [wrongProof, tooOld, unproven, ...slow, client, plugin];
  said.push(running.logs, running.sessions, running.entered, running.left);
  said.push(all.map(({ seen }) => seen));
  const text = JSON.stringify(said);
  expect(running.logs.length).toBeGreaterThan(0);
  expect(text).toContain("TOO_MANY_REQUESTS");
  expect(text).toContain("The plugin token is wrong");
  expect(text).not.toContain(TOKEN);
  expect(text).not.toContain(pluginToken);
});

// What do ours tell somebody else on the port? A nonce, and nothing but a nonce.
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "../../src/bridge/join.ts";
import { OUR_BACKOFF } from "../../src/core/plugin-life.ts";
import { createSystemWorld } from "../../src/platform/system.ts";
import { type PluginClientOptions, startPluginClient } from "../../src/plugin/plugin-client.ts";
import { hostProof, newNonce } from "../fixtures/people.ts";
import { runHost, TOKEN } from "../fixtures/running-host.ts";
import { openStranger, type Say, type Stranger } from "../fixtures/stranger.ts";
import { openTap } from "../fixtures/tap.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

const world = () => createSystemWorld({ info() {}, warn() {} });

const joinOn = (port: number) => join(world(), { port, token: TOKEN, standing: true }, { message() {}, closed() {} });

/** Every form in which a careless program could show the token. */
function showsToken(bytes: Buffer): boolean {
  const raw = Buffer.from(TOKEN, "hex");
  const forms = [
    TOKEN,
    TOKEN.toUpperCase(),
    raw.toString("base64"),
    raw.toString("base64url"),
    encodeURIComponent(TOKEN),
  ];
  return (
    forms.some((form) => bytes.includes(form)) ||
    bytes.includes(raw) ||
    bytes.includes(Buffer.from(TOKEN).toString("base64"))
  );
}

function expectNothingButANonce(stranger: Stranger, type: string, more: object): void {
  for (const message of stranger.heard) expect(message).toEqual({ type, ...more });
  expect(stranger.heard.length).toBeGreaterThan(0);
  expect(showsToken(Buffer.from(JSON.stringify([stranger.heard, stranger.headers])))).toBe(false);
  for (const headers of stranger.headers) expect(headers).not.toHaveProperty("authorization");
}

const NONCE = expect.stringMatching(/^[0-9a-f]{64}$/);

/** What a stranger might try to be taken for a host, given the nonce it was sent. */
const TRICKS: Record<string, (nonce: string, hello: object) => unknown[]> = {
  "a wrong proof": (_, hello) => [{ ...hello, nonce: newNonce(), proof: "0".repeat(64) }],
  "a mirror of our nonce": (nonce, hello) => [{ ...hello, nonce, proof: nonce }],
  "a proof of another token": (nonce, hello) => [
    { ...hello, nonce: "abc", proof: hostProof(nonce, "abc", "f".repeat(64)) },
  ],
  "an old proof of a true host": (_, hello) => [{ ...hello, nonce: "abc", proof: hostProof(newNonce(), "abc") }],
  "no proof at all": (_, hello) => [hello],
  "no object": () => ["null"],
  garbage: () => ["{"],
  "orders at once": () => [
    { type: "execute", sessionId: "s", requestId: "1", payload: { script: "1" } },
    { type: "welcome", sessionId: "s", payload: { sessionId: "s" } },
    { type: "host-transfer" },
    { type: "list-sessions-response", requestId: "1", sessions: [] },
  ],
};

test("[SC2] a client against a stranger sends nothing but a nonce, whatever the stranger tries", async () => {
  const hello = { type: "host-hello", version: "1.0.0", protocolVersion: 2, pid: 1 };
  for (const [trick, frames] of Object.entries(TRICKS)) {
    using stranger = openStranger((message, say) => {
      for (const frame of frames(String(message["nonce"]), hello)) say(frame as object);
    });
    const outcome = await joinOn(stranger.port);
    expect(outcome, trick).toMatchObject({ kind: "foreign", why: expect.stringContaining("could not prove") });
    await until(() => stranger.closes.length === 1);
    expectNothingButANonce(stranger, "client-challenge", { nonce: NONCE });
    expect(stranger.heard).toHaveLength(1);
  }
});

test("[SC2] a stranger that speaks first, or never, learns no more", async () => {
  using early = openStranger(
    () => {},
    (say: Say) => say({ type: "host-hello", nonce: "n", proof: "p", version: "1", protocolVersion: 2, pid: 1 }),
  );
  expect((await joinOn(early.port)).kind).toBe("foreign");
  await until(() => early.closes.length === 1);
  expectNothingButANonce(early, "client-challenge", { nonce: NONCE });
  using mute = openStranger(() => {});
  const clock = createTurnedClock();
  const options = { port: mute.port, token: TOKEN, standing: true };
  const joining = join({ ...world(), clock }, options, { message() {}, closed() {} });
  await until(() => mute.heard.length === 1);
  clock.advance(2_000);
  expect(await joining).toEqual({ kind: "silent" });
  await until(() => mute.closes.length === 1);
  expect(mute.heard).toEqual([{ type: "client-challenge", nonce: NONCE }]);
});

interface OurPlugin extends Disposable {
  handled: string[];
  notices: string[];
  states: string[];
}

function startOurPlugin(port: number, token: string | undefined = TOKEN): OurPlugin {
  const over = new AbortController();
  const handled: string[] = [];
  const notices: string[] = [];
  const states: string[] = [];
  const options: PluginClientOptions = {
    port,
    token,
    identity: { instanceId: "ours", context: "edit", placeName: "Ours", pluginVersion: "1" },
    backoff: OUR_BACKOFF,
    signal: over.signal,
    actions: {
      capabilities: ["execute"],
      state: () => "Edit",
      async handle(type) {
        handled.push(type);
        return { type: "scriptComplete", payload: { success: true } };
      },
      disconnected() {},
    },
    changed: (life) => void states.push(life.state),
    notice: (message) => void notices.push(message),
  };
  startPluginClient(world(), options);
  return { handled, notices, states, [Symbol.dispose]: () => over.abort() };
}

test("[SC2] our plugin against a stranger sends nothing but a nonce, obeys nothing, and does not register", async () => {
  const result = { type: "challengeResult", sessionId: "" };
  for (const [trick, frames] of Object.entries(TRICKS)) {
    using stranger = openStranger((message, say) => {
      const { nonce } = message["payload"] as { nonce: string };
      for (const frame of frames(nonce, {})) {
        const isProof = typeof frame === "object" && !("type" in (frame as object));
        say(isProof ? { ...result, payload: frame as object } : (frame as object | string));
      }
    });
    using plugin = startOurPlugin(stranger.port);
    if (trick === "garbage" || trick === "no object") {
      // Not even a frame: it is passed over, and the wait for an answer goes on.
      await until(() => stranger.heard.length === 1);
    } else {
      await until(() => stranger.closes.length === 2);
      expect(plugin.notices, trick).toEqual([expect.stringContaining("cannot prove")]);
    }
    expectNothingButANonce(stranger, "challenge", { sessionId: "", payload: { nonce: NONCE } });
    expect(plugin.handled).toEqual([]);
    expect(plugin.states).not.toContain("connected");
  }
});

test("[SC2] our plugin believes a host that proves itself, and the token never crosses the wire", async () => {
  using running = runHost({ pluginToken: "plugin-secret" });
  using tap = await openTap(running.port);
  using plugin = startOurPlugin(tap.port);
  await until(() => running.host.sessions === 1);
  const joined = await joinOn(tap.port);
  expect(joined.kind).toBe("joined");
  if (joined.kind === "joined") joined.link.send({ type: "host-status", requestId: "s" });
  await until(() => tap.heard().includes("host-status-response"));
  const heard = tap.heard();
  for (const type of ["client-challenge", "host-hello", "client-hello", "challengeResult", "register", "welcome"]) {
    expect(heard.includes(`"type":"${type}"`), type).toBe(true);
  }
  expect(showsToken(heard)).toBe(false);
  expect(heard.includes("plugin-secret")).toBe(false);
  await until(() => plugin.states.includes("connected"));
  if (joined.kind === "joined") joined.link.end();
});

// How fast is what lies between client and plugin? A bare client on the real wire: proof first, then load as told on stdin.
import { readFileSync } from "node:fs";
import { systemSecrets } from "../../../src/platform/secrets.ts";
import { PROTOCOL_VERSION, VERSION } from "../../../src/protocol/version.ts";
import { createClientProver } from "../../../src/rpc/prover.ts";
import { percentile } from "../support/statistics.ts";

const [port = "", tokenFile = "", sessionId = ""] = process.argv.slice(2);
const prover = createClientProver({ secrets: systemSecrets }, readFileSync(tokenFile, "utf8").trim());
const ws = new WebSocket(`ws://127.0.0.1:${port}/client`);
const pending = new Map<string, (resultType: string) => void>();
let asked = 0;
let failed = 0;

const say = (message: Record<string, unknown>): void => ws.send(JSON.stringify(message));
const tell = (message: Record<string, unknown>): void => console.log(JSON.stringify(message));

/** Every second one executes, the others ask for the state. */
function ask(done: (resultType: string) => void): void {
  const requestId = `bench-${++asked}`;
  const type = asked % 2 === 0 ? "execute" : "queryState";
  const payload = type === "execute" ? { script: "return workspace:GetChildren()" } : {};
  pending.set(requestId, done);
  const action = { type, sessionId, requestId, payload };
  say({ type: "host-envelope", requestId, targetSessionId: sessionId, action, timeoutMs: 30_000 });
}

const oneAnswer = (): Promise<string> => new Promise(ask);

async function ready(): Promise<void> {
  while ((await oneAnswer()) === "error") await Bun.sleep(5);
  failed = 0;
  tell({ type: "ready" });
}

/** Requests a second with so many under way at any time. */
function flood(concurrency: number, ms: number): Promise<number> {
  const since = performance.now();
  let answered = 0;
  let running = concurrency;
  return new Promise((resolve) => {
    const next = (): void => {
      answered++;
      if (performance.now() - since < ms) return ask(next);
      if (--running === 0) resolve((answered / (performance.now() - since)) * 1_000);
    };
    for (let lane = 0; lane < concurrency; lane++) ask(next);
  });
}

async function oneByOne(ms: number): Promise<{ p50: number; p99: number }> {
  const since = performance.now();
  const took: number[] = [];
  for (let before = since; before - since < ms; ) {
    await oneAnswer();
    const now = performance.now();
    took.push(now - before);
    before = now;
  }
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}

ws.addEventListener("open", () => say({ type: "client-challenge", nonce: prover.nonce }));
ws.addEventListener("message", ({ data }) => {
  const frame = JSON.parse(String(data));
  if (frame.type === "host-response") {
    const done = pending.get(frame.requestId);
    pending.delete(frame.requestId);
    if (frame.result.type === "error") failed++;
    return done?.(frame.result.type);
  }
  if (frame.type !== "host-hello") return;
  const proof = prover.check(frame);
  if (proof === undefined) throw new Error("The host could not prove itself");
  const hello = { version: VERSION, protocolVersion: PROTOCOL_VERSION, standing: false, pid: process.pid };
  say({ type: "client-hello", proof, ...hello });
  void ready();
});
ws.addEventListener("close", ({ code, reason }) => {
  console.error(`The socket was closed: ${code} ${reason}`);
  process.exit(1);
});

for await (const line of console) {
  const { type, concurrency, ms } = JSON.parse(line);
  if (type === "flood") tell({ type, perSecond: await flood(concurrency, ms), failed });
  else tell({ type, ...(await oneByOne(ms)), failed });
}
process.exit();

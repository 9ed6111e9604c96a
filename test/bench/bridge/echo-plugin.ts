// What answers at the far end? A plugin that says back at once. Behind the bare relay it hears the client itself,
// envelope, proof and all, and answers in the host's words: so the client is the same program in front of both.
import { readFileSync } from "node:fs";
import { systemSecrets } from "../../../src/platform/secrets.ts";
import { PROTOCOL_VERSION, VERSION } from "../../../src/protocol/version.ts";
import { createHostProver } from "../../../src/rpc/prover.ts";

interface Action {
  type: string;
  requestId: string;
  payload: Record<string, unknown>;
}

const [port = "", tokenFile = "", sessionId = ""] = process.argv.slice(2);
const prover = createHostProver({ secrets: systemSecrets }, readFileSync(tokenFile, "utf8").trim());
const ws = new WebSocket(`ws://127.0.0.1:${port}/plugin`);

const say = (message: Record<string, unknown>): void => ws.send(JSON.stringify(message));

const answer = ({ type, requestId, payload }: Action): Record<string, unknown> =>
  type === "queryState"
    ? {
        type: "stateResult",
        sessionId,
        requestId,
        payload: { state: "Edit", placeId: 0, placeName: "Bench", gameId: 0 },
      }
    : { type: "scriptComplete", sessionId, requestId, payload: { success: true, output: [payload["script"]] } };

ws.addEventListener("open", () => {
  const payload = {
    pluginVersion: "1.0.0",
    instanceId: sessionId,
    placeName: "Bench",
    state: "Edit",
    capabilities: ["execute", "queryState"],
  };
  say({ type: "register", sessionId, protocolVersion: PROTOCOL_VERSION, payload });
  console.log(JSON.stringify({ type: "open" }));
});

ws.addEventListener("message", ({ data }) => {
  const frame = JSON.parse(String(data));
  switch (frame.type) {
    case "execute":
    case "queryState":
      return say(answer(frame));
    case "host-envelope":
      return say({ type: "host-response", requestId: frame.requestId, result: answer(frame.action) });
    case "client-challenge": {
      const versions = { version: VERSION, protocolVersion: PROTOCOL_VERSION };
      return say({ type: "host-hello", ...prover.answer(frame.nonce), ...versions, pid: process.pid });
    }
  }
});
ws.addEventListener("close", ({ code, reason }) => {
  console.error(`The socket was closed: ${code} ${reason}`);
  process.exit(1);
});

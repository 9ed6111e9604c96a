// How does a turn end that the demo agent never ends? An agent whose prompt is its stop reason, or "login".
export {};

interface Request {
  id: number;
  method: string;
  params: { prompt?: { text: string }[] };
}

const say = (message: Record<string, unknown>): void => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: 1,
    agentCapabilities: {},
    authMethods: [{ id: "browser", name: "Log in with a browser" }],
  },
  "session/new": { sessionId: "odd" },
};

function answer({ id, method, params }: Request): void {
  const text = params.prompt?.[0]?.text;
  if (text === "login") return say({ id, error: { code: -32000, message: "Authentication required" } });
  say({ id, result: text === undefined ? (RESULTS[method] ?? {}) : { stopReason: text } });
}

for await (const line of console) answer(JSON.parse(line));

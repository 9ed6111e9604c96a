// What does a conformance kit see of an agent? Its stdout, byte by byte; this client believes nothing else.
import definitions from "../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
import type { AgentStage } from "./agent-stage.ts";
import { startOnPipes } from "./editor.ts";
import { until } from "./until.ts";

export type Id = string | number;

export interface Message {
  jsonrpc?: string;
  id?: Id | null;
  method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, looked at from outside
  params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  result?: any;
  error?: { code: number; message: string; data?: unknown };
}

export interface KitClient {
  readonly messages: Message[];
  /** Which method each id was used for. */
  readonly asked: ReadonlyMap<Id, string>;
  /** Answers whatever the agent asks of a client. */
  ask(method: string, params?: unknown, id?: Id): Promise<Message>;
  /** The same, and it must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire
  result(method: string, params?: unknown, id?: Id): Promise<any>;
  /** Sends it and waits for nothing. */
  send(message: object): void;
  write(line: string): void;
  message(fits: (message: Message) => boolean): Promise<Message>;
  open(cwd?: string): Promise<string>;
  prompt(sessionId: string, text: string, id?: Id): Promise<Message>;
  /** Closes its input; what it wrote to stderr, and how it ended. */
  end(): Promise<{ code: number; stderr: string }>;
}

interface Definition {
  $ref?: string;
  properties?: Record<string, unknown>;
  allOf?: Definition[];
  anyOf?: Definition[];
  oneOf?: Definition[];
}

const DEFINITIONS = definitions.$defs as unknown as Record<string, Definition>;

/** Every key that the schema knows at the root of this type, whatever kind of it. */
export function keysOf(name: string): Set<string> {
  const keys = new Set<string>();
  const add = ({ $ref, properties, allOf, anyOf, oneOf }: Definition): void => {
    if ($ref) add(DEFINITIONS[$ref.replace("#/$defs/", "")] ?? {});
    for (const key of Object.keys(properties ?? {})) keys.add(key);
    for (const each of [allOf, anyOf, oneOf].flatMap((some) => some ?? [])) add(each);
  };
  add({ $ref: `#/$defs/${name}` });
  return keys;
}

export function startKitClient(stage: AgentStage, agent: string): KitClient {
  const child = startOnPipes(stage, ["acp", agent]);
  const messages: Message[] = [];
  const broken: unknown[] = [];
  const asked = new Map<Id, string>();
  const send = (message: object): void => write(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const write = (line: string): void => {
    child.stdin.write(`${line}\n`);
    void child.stdin.flush();
  };
  const took = (message: Message): void => {
    messages.push(message);
    if (message.method !== "session/request_permission") return;
    send({ id: message.id, result: { outcome: { outcome: "cancelled" } } });
  };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) took(JSON.parse(line));
    }
    if (rest !== "") throw new Error(`The last line has no end: ${rest}`);
  };
  const reading = read().catch((thrown) => broken.push(thrown));
  const stderr = new Response(child.stderr).text();
  const client: KitClient = {
    messages,
    asked,
    send,
    write,
    async message(fits) {
      await until(
        () => `a message; there are ${JSON.stringify(messages.slice(-5))}`,
        () => broken.length > 0 || messages.some(fits),
      );
      if (broken.length > 0) throw broken[0];
      return messages.find(fits) as Message;
    },
    ask(method, params, id = `kit-${asked.size}`) {
      asked.set(id, method);
      send({ id, method, ...(params === undefined ? {} : { params }) });
      return client.message((message) => message.method === undefined && message.id === id);
    },
    async result(method, params, id) {
      const { result, error } = await client.ask(method, params, id);
      if (error || typeof result !== "object" || result === null)
        throw new Error(`${method} was answered with ${JSON.stringify(error ?? result)}`);
      return result;
    },
    async open(cwd = "/tmp") {
      await client.result("initialize", { protocolVersion: 1, clientCapabilities: {} });
      return (await client.result("session/new", { cwd, mcpServers: [] })).sessionId;
    },
    prompt: (sessionId, text, id) => client.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, id),
    async end() {
      await child.stdin.end();
      const code = await child.exited;
      await reading;
      if (broken.length > 0) throw broken[0];
      return { code, stderr: await stderr };
    },
  };
  return client;
}

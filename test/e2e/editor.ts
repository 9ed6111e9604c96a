// What is an editor to a test? A client made with the ACP SDK in front of the built binary, that keeps every line.
import { type ClientContext, client, ndJsonStream, type RequestPermissionResponse } from "@agentclientprotocol/sdk";
import * as schema from "../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import { BINARY } from "../support/binary.ts";
import type { AgentStage } from "./agent-stage.ts";
import { until } from "./until.ts";

export interface Line {
  id?: string | number | null;
  method?: string;
  params?: { sessionId: string; update: Update };
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

interface Update {
  sessionUpdate: string;
  content?: { type: string; text: string };
}

export interface Editor {
  agent: ClientContext;
  readonly pid: number;
  readonly lines: Line[];
  readonly stderr: string;
  /** Messages of user and agent, each with who said it; pieces of one message in one piece. */
  talk(): string[];
  /** What the agent said. */
  said(): string;
  /** As it is, past the SDK. */
  write(line: string): void;
  /** Waits for a line. */
  line(fits: (line: Line) => boolean): Promise<Line>;
  initialize(): Promise<void>;
  open(cwd?: string): Promise<string>;
  prompt(sessionId: string, text: string): Promise<{ stopReason: string }>;
  closeInput(): void;
  kill(): void;
  exited: Promise<number>;
}

export type Answer = (options: { optionId: string; kind: string }[], signal: AbortSignal) => Promise<string | null>;
const cancels: Answer = async () => null;

/** The binary as whatever is on its other end sees it. */
export function startOnPipes(stage: AgentStage, words: readonly string[]) {
  const child = Bun.spawn([BINARY, ...words], {
    env: stage.env,
    cwd: "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  stage.defer(() => child.kill("SIGKILL"));
  return child;
}

export function openEditor(stage: AgentStage, words: string[] = ["acp", "demo"], answer: Answer = cancels): Editor {
  const child = startOnPipes(stage, words);
  const lines: Line[] = [];
  let stderr = "";
  const [toSdk, toUs] = child.stdout.tee();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of toUs) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) lines.push(JSON.parse(part));
    }
  };
  const readErrors = async (): Promise<void> => {
    for await (const bytes of child.stderr) stderr += new TextDecoder().decode(bytes);
  };
  void read();
  void readErrors();
  const write = (text: string): void => {
    child.stdin.write(text);
    void child.stdin.flush();
  };
  const output = new WritableStream<Uint8Array>({ write: (bytes) => write(new TextDecoder().decode(bytes)) });
  const { agent } = client({ name: "sdk-editor" })
    .onRequest("session/request_permission", async ({ params, signal }): Promise<RequestPermissionResponse> => {
      const optionId = await answer(params.options, signal);
      return { outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    })
    .onNotification("session/update", ({ params }) => void schema.zSessionNotification.parse(params))
    .connect(ndJsonStream(output, toSdk));
  const updates = () =>
    lines.flatMap(({ method, params }) => (method === "session/update" && params ? [params.update] : []));
  const talk = () => {
    const all: string[] = [];
    let last = "";
    for (const { sessionUpdate, content } of updates()) {
      const who = /^(user|agent)_message_chunk$/.exec(sessionUpdate)?.[1];
      if (who && who === last) all[all.length - 1] += content?.text ?? "";
      else if (who) all.push(`${who}: ${content?.text}`);
      last = who ?? last;
    }
    return all;
  };
  const editor: Editor = {
    agent,
    pid: child.pid,
    lines,
    get stderr() {
      return stderr;
    },
    talk,
    said: () =>
      updates()
        .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
        .map(({ content }) => content?.text ?? "")
        .join(""),
    write: (line) => write(`${line}\n`),
    async line(fits) {
      await until(
        () => `a line; there are ${JSON.stringify(lines.slice(-10))}, ${stderr}`,
        () => lines.some(fits),
      );
      return lines.find(fits) as Line;
    },
    async initialize() {
      await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    },
    async open(cwd = "/tmp") {
      await editor.initialize();
      return (await agent.request("session/new", { cwd, mcpServers: [] })).sessionId;
    },
    prompt: (sessionId, text) => agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    closeInput: () => void child.stdin.end(),
    kill: () => child.kill("SIGKILL"),
    exited: child.exited,
  };
  return editor;
}

export const numbers = (count: number): string =>
  Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join("");

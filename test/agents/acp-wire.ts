// Is everything we say right ACP? Each line is parsed with the SDK's own schemas, and nothing of it may be stripped.
import { expect } from "bun:test";
import * as schema from "../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import type { Message } from "./fake-agent.ts";

interface Parser {
  parse(value: unknown): unknown;
}

const REQUESTS: Record<string, Parser> = {
  initialize: schema.zInitializeRequest,
  authenticate: schema.zAuthenticateRequest,
  "session/new": schema.zNewSessionRequest,
  "session/load": schema.zLoadSessionRequest,
  "session/resume": schema.zResumeSessionRequest,
  "session/list": schema.zListSessionsRequest,
  "session/close": schema.zCloseSessionRequest,
  "session/prompt": schema.zPromptRequest,
  "session/set_mode": schema.zSetSessionModeRequest,
  "session/set_config_option": schema.zSetSessionConfigOptionRequest,
};

const NOTIFICATIONS: Record<string, Parser> = {
  "session/cancel": schema.zCancelNotification,
  "$/cancel_request": schema.zCancelRequestNotification,
};

function parserFor({ method, id }: Message): Parser | undefined {
  if (method === undefined) return schema.zRequestPermissionResponse;
  return (id === undefined ? NOTIFICATIONS : REQUESTS)[method];
}

/** What kind of line it is, for a list of all that were seen. */
export function checkLine(line: string): string {
  expect(line).not.toContain("\n");
  const message = JSON.parse(line) as Message;
  expect(message.jsonrpc).toBe("2.0");
  if (message.error) {
    expect(schema.zError.parse(message.error)).toMatchObject(message.error);
    return "error";
  }
  const parser = parserFor(message);
  if (!parser) throw new Error(`No schema for ${line}`);
  const body = (message.method === undefined ? message.result : message.params) as Record<string, unknown>;
  expect(parser.parse(body)).toMatchObject(body);
  return message.method ?? "permission";
}

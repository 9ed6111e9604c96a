// What is a message of two peers, and what is none?
import type { RpcError, RpcId } from "../protocol/json-rpc.ts";
import { DEEPEST_INSIDE, isTooDeep } from "./frame.ts";

export interface RpcMessage {
  id?: RpcId;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: RpcError;
}

export const parseMessage = (line: string): RpcMessage | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    // Deeper than any socket of ours takes it, nobody could be told.
    return typeof value === "object" && value !== null && !Array.isArray(value) && !isTooDeep(line, DEEPEST_INSIDE)
      ? value
      : undefined;
  } catch {
    return undefined;
  }
};

export const isError = (error: unknown): error is RpcError =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "number";

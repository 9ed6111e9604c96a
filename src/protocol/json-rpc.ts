// Which numbers does JSON-RPC have for what went wrong, and which ACP do we speak?

export const ACP_VERSION = 1;

export type RpcId = string | number | null;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
  cancelled: -32800,
} as const;

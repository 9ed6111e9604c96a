// Does a host answer about agents as it should? The schemas of `agents.ts` and `acp.ts` by hand, as in `host-frames.ts`.
import type { PermissionOption } from "./acp.ts";
import type { AgentInfo, AgentSessionInfo, LoginAnswer, OpenedSession, ShelvedSession } from "./agents.ts";
import {
  isAnything,
  isFlag,
  isNumber,
  isOneOf,
  isText,
  isTextRecord,
  listOf,
  nullable,
  optional,
  shape,
} from "./guards.ts";

export const isAgentSessionInfo = shape<AgentSessionInfo>({
  kind: isOneOf("agent"),
  name: isText,
  agent: isText,
  cwd: isText,
  turn: isOneOf("idle", "running", "waiting"),
  promptId: optional(isText),
  queued: isNumber,
  clients: isNumber,
  lastSeq: isNumber,
  idle: shape<AgentSessionInfo["idle"]>({ verdict: isText, reason: isText, dueInMs: nullable(isNumber) }),
  title: optional(isText),
  updatedAt: optional(isText),
});

export const isShelvedSession = shape<ShelvedSession>({
  kind: isOneOf("agent"),
  name: isText,
  agent: isText,
  cwd: isText,
  closed: isOneOf(true),
  title: optional(isText),
  updatedAt: optional(isText),
});

const isOpenPermission = shape<OpenedSession["permissions"][number]>({
  permissionId: isText,
  toolCall: isAnything,
  options: isAnything,
});

export const isOpenedSession = shape<OpenedSession>({
  session: isText,
  lastSeq: isNumber,
  modes: isAnything,
  configOptions: isAnything,
  permissions: listOf(isOpenPermission),
});

export const isAgentInfo = shape<AgentInfo>({
  name: isText,
  displayName: isText,
  command: isText,
  found: isFlag,
  install: isText,
  status: isText,
  pid: nullable(isNumber),
  keeper: optional(nullable(isNumber)),
  stderr: optional(listOf(isText)),
});

type Login<Kind extends LoginAnswer["kind"]> = Extract<LoginAnswer, { kind: Kind }>;

const isNoLogin = shape<Login<"none">>({ kind: isOneOf("none") });
const isLoginDone = shape<Login<"done">>({ kind: isOneOf("done"), method: isText });
const isTerminalLogin = shape<Login<"terminal">>({
  kind: isOneOf("terminal"),
  method: isText,
  command: optional(isText),
  args: listOf(isText),
  env: isTextRecord,
});
export const isLoginAnswer = (value: unknown): value is LoginAnswer =>
  isNoLogin(value) || isLoginDone(value) || isTerminalLogin(value);

export const isPermissionOption = shape<PermissionOption>({ optionId: isText, name: isText, kind: isText });

// What does an ACP agent say, as far as we must understand it? Everything else is kept and passed on as it came.
import { z } from "zod";
import { isAnything, isText, nullable, optional, shape } from "./guards.ts";

export { ACP_VERSION, RPC } from "./json-rpc.ts";

/** Present and not null means yes, whatever it holds. */
const marker = z.unknown();

export const AuthMethod = z.looseObject({ id: z.string(), name: z.string(), type: z.string().optional() });
export type AuthMethod = z.infer<typeof AuthMethod>;

export const InitializeResult = z.looseObject({
  protocolVersion: z.number(),
  agentCapabilities: z
    .looseObject({
      loadSession: z.boolean().optional(),
      sessionCapabilities: z
        .looseObject({ list: marker, resume: marker, close: marker, delete: marker })
        .partial()
        .nullish(),
    })
    .nullish(),
  authMethods: z.array(AuthMethod).nullish(),
  agentInfo: z.looseObject({ name: z.string(), version: z.string().optional() }).nullish(),
});
export type InitializeResult = z.infer<typeof InitializeResult>;

export const NewSessionResult = z.looseObject({
  sessionId: z.string(),
  modes: z.looseObject({ currentModeId: z.string() }).nullish(),
});

export const PromptResult = z.looseObject({ stopReason: z.string() });

export const ContentBlock = z.looseObject({ type: z.string(), text: z.string().optional() });
export type ContentBlock = z.infer<typeof ContentBlock>;

export const SessionUpdate = z.looseObject({
  sessionUpdate: z.string(),
  content: z.unknown().optional(),
  messageId: z.string().nullish(),
  toolCallId: z.string().optional(),
  title: z.string().nullish(),
  status: z.string().nullish(),
  kind: z.string().nullish(),
});
export type SessionUpdate = z.infer<typeof SessionUpdate>;

export const UpdateParams = z.looseObject({ sessionId: z.string(), update: SessionUpdate });
export type UpdateParams = z.infer<typeof UpdateParams>;
/** The same by hand, for what comes by the hundred thousand. */
const isMaybeText = optional(nullable(isText));
const isSessionUpdate = shape<SessionUpdate>({
  sessionUpdate: isText,
  content: isAnything,
  messageId: isMaybeText,
  toolCallId: optional(isText),
  title: isMaybeText,
  status: isMaybeText,
  kind: isMaybeText,
});
export const isUpdateParams = shape<UpdateParams>({ sessionId: isText, update: isSessionUpdate });

export const PermissionOption = z.looseObject({ optionId: z.string(), name: z.string(), kind: z.string() });
export type PermissionOption = z.infer<typeof PermissionOption>;

export const PermissionParams = z.looseObject({
  sessionId: z.string(),
  toolCall: z.looseObject({
    toolCallId: z.string(),
    title: z.string().nullish(),
    kind: z.string().nullish(),
  }),
  options: z.array(PermissionOption),
});
export type PermissionParams = z.infer<typeof PermissionParams>;

export type PermissionOutcome = { outcome: "selected"; optionId: string } | { outcome: "cancelled" };

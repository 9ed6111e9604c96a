// What do clients and the host say of agents and their sessions? Requests by verb, events by journal number.
import { z } from "zod";
import { POLICIES, SESSION_NAME } from "./vocabulary.ts";

export const Policy = z.enum(POLICIES);
export type Policy = z.infer<typeof Policy>;

export const SessionName = z.string().regex(SESSION_NAME.pattern, SESSION_NAME.says);

const session = SessionName;
const name = z.string().min(1);

export const AgentRequest = z.discriminatedUnion("verb", [
  z.object({
    verb: z.literal("prompt"),
    agent: name,
    /** Absent: a fresh session. */
    session: session.optional(),
    cwd: z.string().startsWith("/"),
    text: z.string(),
    policy: Policy,
    /** Asked for again under the same id, it is not sent again. */
    promptId: z.string().min(8),
    /** Pinned until its turn has ended. */
    detach: z.boolean().default(false),
    /** Whoever asks is attached from this prompt on; the answer then says so. */
    attach: z.boolean().optional(),
    /** Whoever leaves the session last, with nothing left to do in it, closes it; the answer then says so. */
    closes: z.boolean().optional(),
    /** What the agent's definition lists, from whoever causes its start. */
    env: z.record(z.string(), z.string()),
  }),
  /** Makes a session ready without a prompt, for editors. Under the same name one session, however often it is asked. */
  z.object({
    verb: z.literal("open"),
    agent: name,
    session,
    cwd: z.string().startsWith("/"),
    /** Else it must be there. */
    create: z.boolean(),
    /** What it gets besides the agent's own, from now on; absent: as it was. */
    mcpServers: z.array(z.record(z.string(), z.unknown())).optional(),
    env: z.record(z.string(), z.string()),
  }),
  /** The session's mode, or one of its options. */
  z.object({ verb: z.literal("set"), session, modeId: z.string() }),
  z.object({
    verb: z.literal("set-option"),
    session,
    configId: z.string(),
    value: z.union([z.string(), z.boolean()]),
  }),
  z.object({ verb: z.literal("attach"), session, after: z.number().int().nonnegative() }),
  /** Some events, without coming and going as a client. */
  z.object({
    verb: z.literal("read"),
    session,
    after: z.number().int().nonnegative(),
    count: z.number().int().positive(),
  }),
  z.object({ verb: z.literal("detach"), session }),
  /** With an id only this prompt, whether it runs or still waits; never the turn of somebody else. */
  z.object({ verb: z.literal("cancel"), session, promptId: z.string().optional() }),
  z.object({ verb: z.literal("withdraw"), session, promptId: z.string() }),
  /** Null: whoever was asked takes the question back. */
  z.object({ verb: z.literal("answer"), session, permissionId: z.string(), optionId: z.string().nullable() }),
  z.object({ verb: z.literal("keep"), session, forMs: z.number().nonnegative().nullable() }),
  z.object({ verb: z.literal("close"), session }),
  z.object({ verb: z.literal("reconnect"), agent: name, env: z.record(z.string(), z.string()) }),
  z.object({
    verb: z.literal("login"),
    agent: name,
    method: z.string().optional(),
    env: z.record(z.string(), z.string()),
  }),
  z.object({ verb: z.literal("agents"), env: z.record(z.string(), z.string()) }),
  z.object({ verb: z.literal("sessions") }),
  z.object({ verb: z.literal("shelf"), limit: z.number().int().positive().optional() }),
  z.object({ verb: z.literal("prune"), maxAgeMs: z.number().nonnegative(), maxBytes: z.number().nonnegative() }),
]);
export type AgentRequest = z.infer<typeof AgentRequest>;

export const LoginAnswer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("none") }),
  z.object({ kind: z.literal("done"), method: z.string() }),
  /** To be run by whoever sits at a terminal. */
  z.object({
    kind: z.literal("terminal"),
    method: z.string(),
    command: z.string().optional(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
  }),
]);
export type LoginAnswer = z.infer<typeof LoginAnswer>;

export const AgentSessionInfo = z.looseObject({
  kind: z.literal("agent"),
  name: z.string(),
  agent: z.string(),
  cwd: z.string(),
  turn: z.enum(["idle", "running", "waiting"]),
  /** Of the turn that runs. */
  promptId: z.string().optional(),
  queued: z.number(),
  clients: z.number(),
  lastSeq: z.number(),
  idle: z.looseObject({ verdict: z.string(), reason: z.string(), dueInMs: z.number().nullable() }),
  /** What it is about: the agent's own title, else how it began. */
  title: z.string().optional(),
  updatedAt: z.string().optional(),
});
export type AgentSessionInfo = z.infer<typeof AgentSessionInfo>;

/** Closed, and brought back by its name. */
export const ShelvedSession = z.looseObject({
  kind: z.literal("agent"),
  name: z.string(),
  agent: z.string(),
  cwd: z.string(),
  closed: z.literal(true),
  title: z.string().optional(),
  updatedAt: z.string().optional(),
});
export type ShelvedSession = z.infer<typeof ShelvedSession>;

export const OpenPermission = z.looseObject({
  permissionId: z.string(),
  toolCall: z.unknown().optional(),
  options: z.unknown().optional(),
});

/** A session as an editor needs it. */
export const OpenedSession = z.looseObject({
  session: z.string(),
  lastSeq: z.number(),
  /** As the agent offers them; absent when it offers none. */
  modes: z.unknown().optional(),
  configOptions: z.unknown().optional(),
  /** Asked and not answered yet. */
  permissions: z.array(OpenPermission),
});
export type OpenedSession = z.infer<typeof OpenedSession>;

export const AgentInfo = z.looseObject({
  name: z.string(),
  displayName: z.string(),
  command: z.string(),
  found: z.boolean(),
  install: z.string(),
  status: z.string(),
  pid: z.number().nullable(),
  /** Who holds it while hosts come and go. */
  keeper: z.number().nullable().optional(),
  /** The last lines of it, dead or alive. */
  stderr: z.array(z.string()).optional(),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

/** One line of a session's journal, and one event for whoever is attached. */
export const SessionRecord = z.looseObject({
  seq: z.number().int().positive(),
  /** First of a range, where texts were merged. */
  from: z.number().int().positive().optional(),
  at: z.string(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

// With which numbers and doors does a host run? Kept per port, so that a successor goes on as its predecessor did.
import { z } from "zod";

export const Auth = z.enum(["token", "none"]);
export type Auth = z.infer<typeof Auth>;

const bytes = z.number().int().positive();

export const Limits = z.object({
  frameBytes: bytes.default(16 * 1024 * 1024),
  waitingBytes: bytes.default(32 * 1024 * 1024),
  requestsPerSession: bytes.default(64),
  clients: bytes.default(256),
  plugins: bytes.default(256),
});
export type Limits = z.infer<typeof Limits>;

const wholeMs = z.number().int().nonnegative();

export const IdleLimits = z.object({
  idleTimeoutMs: wholeMs.default(5 * 60_000),
  maxIdleMs: wholeMs.default(30 * 60_000),
  staleOutputMs: wholeMs.default(10 * 60_000),
});
export type IdleLimits = z.infer<typeof IdleLimits>;

export const Settings = z.object({
  auth: Auth.default("token"),
  pluginToken: z.string().min(8).nullable().default(null),
  limits: Limits.prefault({}),
  idle: IdleLimits.prefault({}),
});
export type Settings = z.infer<typeof Settings>;

export const DEFAULT_SETTINGS: Settings = Settings.parse({});

// What does `GET /health` say? Nothing secret: no paths, no session ids.
import { z } from "zod";

export const Health = z.looseObject({
  status: z.literal("ok"),
  port: z.number(),
  sessions: z.number(),
  uptime: z.number(),
  hostUptime: z.number(),
  lastFailoverAt: z.string().nullable(),
  protocolVersion: z.number().optional(),
  serverVersion: z.string().optional(),
});
export type Health = z.infer<typeof Health>;

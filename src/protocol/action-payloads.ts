// What must an action carry? Checked by the host, before a plugin is asked.
import { z } from "zod";

const anything: z.ZodType<Record<string, unknown>> = z.looseObject({});
const events = z.looseObject({ events: z.array(z.string()) });

const PAYLOADS: Readonly<Record<string, z.ZodType<Record<string, unknown>>>> = {
  execute: z.looseObject({ script: z.string() }),
  queryDataModel: z.looseObject({ path: z.string() }),
  subscribe: events,
  unsubscribe: events,
};

/** Plugins may have actions of their own: those carry what they like. */
export const payloadSchemaOf = (name: string): z.ZodType<Record<string, unknown>> =>
  Object.hasOwn(PAYLOADS, name) ? (PAYLOADS[name] ?? anything) : anything;

// Is this a frame of the plugin's wire, or an entry of its log? The schemas of `plugin.ts` by hand, as in `host-frames.ts`.
import { isNumber, isRecord, isText, optional, shape } from "./guards.ts";
import type { LogEntry, PluginFrame } from "./plugin.ts";
import { MOST_NAME_LETTERS } from "./vocabulary.ts";

export const isPluginFrame = shape<PluginFrame>({
  type: isText,
  sessionId: (value): value is string => isText(value) && value.length <= MOST_NAME_LETTERS,
  payload: isRecord,
  requestId: optional(isText),
  protocolVersion: optional(isNumber),
});

export const isLogEntry = shape<LogEntry>({ level: isText, body: isText, timestamp: isNumber });

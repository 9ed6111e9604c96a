// Who hears what a task does? Every event goes through one door, where secrets are taken out.
import type { Redact } from "../core/redact.ts";

export type TaskEventType =
  | "task:started"
  | "task:planned"
  | "cdp:endpoint_cycle"
  | "cdp:endpoint_connected"
  | "browser:navigated"
  | "agent:step"
  | "browser:action_started"
  | "browser:action_completed"
  | "browser:disconnected"
  | "browser:reconnected"
  | "task:validated"
  | "task:completed";

export type Tell = (type: TaskEventType, data: Record<string, unknown>) => void;

export const createTell =
  (redact: Redact, listeners: readonly Tell[]): Tell =>
  (type, data) => {
    const clean = redact(data);
    for (const listener of listeners) listener(type, clean);
  };

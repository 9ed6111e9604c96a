// How does a web task look to a person? One line per step, and a status line for what is under way.
import type { Tell } from "../browser/report.ts";
import { firstLineOf } from "../protocol/fault.ts";
import type { Printer } from "../surface/print.ts";
import type { Progress } from "../surface/progress.ts";
import type { Tone } from "../surface/text.ts";

type Data = Record<string, unknown>;

const CLIP = 160;

function describe(action: unknown): string {
  const { action: name, ...rest } = (action ?? {}) as Data;
  const words = Object.entries(rest).map(([key, value]) =>
    key === "target" ? describe({ action: "", ...(value as Data) }).trim() : `${key} ${JSON.stringify(value)}`,
  );
  const text = [String(name), ...words].join(" ");
  return text.length > CLIP ? `${text.slice(0, CLIP)}…` : text;
}

const LINES: Readonly<Record<string, (data: Data) => [string, Tone?] | undefined>> = {
  "task:planned": ({ plan, url }) => [`Plan: ${plan} (begins at ${url})`, "dim"],
  "cdp:endpoint_cycle": ({ attempt, total, error }) => [`Browser ${attempt} of ${total} failed: ${error}`, "yellow"],
  "cdp:endpoint_connected": ({ endpointIndex, total }) => [
    `Browser ${Number(endpointIndex) + 1} of ${total} is ready`,
    "dim",
  ],
  "agent:step": ({ iteration, action, error }) =>
    error === undefined
      ? [`${iteration}. ${describe(action)}`]
      : [`${iteration}. failed: ${firstLineOf(error)}`, "red"],
  "browser:action_completed": ({ success, error, notes }) => {
    if (!success) return [`   failed: ${firstLineOf(error)}`, "red"];
    return Array.isArray(notes) ? [`   ${notes.join("; ")}`, "dim"] : undefined;
  },
  "browser:disconnected": ({ error }) => [firstLineOf(error), "yellow"],
  "browser:reconnected": ({ startingUrl, endpointIndex, total, notRestored }) => [
    `Reconnected to browser ${Number(endpointIndex) + 1} of ${total}; the task starts again from ${startingUrl}${
      Array.isArray(notRestored) ? `, without ${notRestored.join("; ")}` : ""
    }`,
    "yellow",
  ],
  "task:validated": ({ success, feedback }) =>
    success ? undefined : [`The answer did not pass: ${feedback}`, "yellow"],
};

const DOING: Readonly<Record<string, string>> = {
  "task:started": "Connecting to a browser",
  "cdp:endpoint_connected": "Planning",
  "task:planned": "Opening the start page",
  "browser:navigated": "Thinking",
  "browser:action_completed": "Thinking",
  "browser:disconnected": "Connecting to the next browser",
  "browser:reconnected": "Thinking",
};

export function createBrowseLines(printer: Printer): { tell: Tell; end(): void } {
  let doing: Progress | undefined;
  const say = (label: string | undefined): void => {
    if (label === undefined || printer.format === "json") return;
    doing?.done();
    doing = printer.progress(label);
  };
  return {
    tell(type, data) {
      printer.event(type, data);
      if (printer.format === "json") return;
      const line = LINES[type]?.(data);
      if (line) printer.note(...line);
      say(type === "browser:action_started" ? `Doing "${data["action"]}"` : DOING[type]);
    },
    end: () => doing?.done(),
  };
}

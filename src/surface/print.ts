// Where does each kind of output go? Results on stdout, everything else on stderr; JSON never has anything around it.

import type { Clock } from "../platform/world.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { Format } from "./command.ts";
import { createStatusLine, type Progress } from "./progress.ts";
import { type Column, formatTable, type Paint, paint, stripControls, type Tone } from "./text.ts";

/** What the printer asks of a terminal; `platform/terminal.ts` is the real one. */
export interface Output {
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** Colour on stdout. */
  readonly color: boolean;
  /** Colour on stderr. */
  readonly errColor: boolean;
  /** A line on stderr can be erased and written again. */
  readonly errRewrites: boolean;
  readonly columns: number;
  out(text: string): void;
  err(text: string): void;
}

export interface EventOptions {
  /** Where the event has a number and a time of its own, as in a journal. */
  seq?: number;
  from?: number;
  at?: string;
  /** A line for text mode; without it text mode shows nothing. */
  text?: string;
}

export interface Printer {
  readonly format: Format;
  /** Colours for `line`; plain where there are none. */
  readonly paint: Paint;
  /** A result in text mode. Trusted: what agents and plugins said goes through `safe` first. */
  line(text: string): void;
  /** For people, on stderr, in both formats. Controls are stripped on a terminal. */
  note(text: string, tone?: Tone): void;
  /** The one document of JSON mode. */
  json(value: unknown): void;
  event(type: string, data: Record<string, unknown>, options?: EventOptions): void;
  /** What an agent or plugin said, as a result in text mode, with no line end added. */
  untrusted(text: string): void;
  /** On a terminal: ends a line that is still open. */
  endLine(): void;
  /** The same text, to be put into a `line`. */
  safe(text: string): string;
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void;
  progress(label: string): Progress;
  fault(thrown: unknown): void;
}

export interface PrinterOptions {
  terminal: Output;
  format: Format;
  clock: Pick<Clock, "after" | "elapsed" | "iso">;
}

export function createPrinter({ terminal, format, clock }: PrinterOptions): Printer {
  const isText = format === "text";
  const status = createStatusLine({
    terminal,
    clock,
    rewrites: isText && terminal.errRewrites,
    mayDraw: () => !lineOpen,
  });
  const colors = paint(isText && terminal.color);
  const errColors = paint(isText && terminal.errColor);
  let seq = 0;
  let lineOpen = false;
  let written: "nothing" | "events" | "document" = "nothing";

  const out = (text: string) => {
    if (text === "") return;
    status.hide();
    terminal.out(text);
    lineOpen = terminal.stdoutIsTty && terminal.stderrIsTty && !text.endsWith("\n");
  };
  const err = (text: string) => {
    status.hide();
    terminal.err(`${lineOpen ? "\n" : ""}${text}\n`);
    lineOpen = false;
  };
  const safe = (text: string) => (terminal.stdoutIsTty ? stripControls(text) : text);
  const safeErr = (text: string) => (terminal.stderrIsTty ? stripControls(text) : text);
  const line = (text: string) => isText && out(`${text}\n`);
  const document = (now: "events" | "document") => {
    if (written === "document" || (written === "events" && now === "document"))
      throw new Error("JSON mode has one document, or one event per line");
    written = now;
  };

  return {
    format,
    paint: colors,
    line,
    safe,
    note: (text, tone) => err(tone ? errColors[tone](safeErr(text)) : safeErr(text)),
    json(value) {
      if (isText) return;
      document("document");
      out(`${stringify(value)}\n`);
    },
    event(type, data, options = {}) {
      if (isText) return options.text === undefined ? undefined : void line(options.text);
      document("events");
      seq = options.seq ?? seq + 1;
      const from = options.from === undefined ? {} : { from: options.from };
      out(`${stringify({ seq, ...from, at: options.at ?? clock.iso(), type, data })}\n`);
    },
    untrusted: (text) => isText && out(safe(text)),
    endLine: () => (lineOpen ? out("\n") : undefined),
    table(rows, columns) {
      if (!isText) return;
      const { color, stdoutIsTty } = terminal;
      const cleaned = columns.map(
        (column) => ({ ...column, value: (row) => cleanCell(column.value(row)) }) as typeof column,
      );
      line(formatTable(rows, cleaned, { width: stdoutIsTty ? terminal.columns : undefined, color }));
    },
    progress: (label) => status.start(safeErr(label)),
    fault(thrown) {
      const message = messageOf(thrown);
      if (isText) return err(`${errColors.red("error:")} ${safeErr(message)}`);
      const { code, data } = thrown instanceof Fault ? thrown : { code: "INTERNAL", data: {} };
      err(stringify({ error: { code, message, data } }));
    },
  };

  function cleanCell(value: string | number | undefined) {
    return typeof value === "string" ? safe(value) : value;
  }
}

/** On one line. `JSON.stringify` leaves C1 controls bare, which a terminal obeys; escaped they say the same. */
const stringify = (value: unknown): string =>
  (JSON.stringify(value) ?? "null").replace(
    /[\x7f-\x9f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

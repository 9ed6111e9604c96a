// What is it doing all this time? A status line on stderr for anything longer than a second.
import type { Clock } from "../platform/world.ts";
import { formatDuration, stripControls } from "./text.ts";
import { clip } from "./width.ts";

export interface Progress {
  update(label: string): void;
  /** May be called again. */
  done(): void;
}

export interface StatusLine {
  start(label: string): Progress;
  /** Before anything else is written. The line comes back with the next second. */
  hide(): void;
}

interface StatusOptions {
  terminal: { readonly columns: number; err(text: string): void };
  clock: Pick<Clock, "after" | "elapsed">;
  /** One line, written again and erased at the end; else one plain line, once. */
  rewrites: boolean;
  /** False while a line of results stands open on the same terminal. */
  mayDraw(): boolean;
}

const SHOWN_AFTER_MS = 1000;
const ERASE = "\r\x1b[K";

export function createStatusLine({ terminal, clock, rewrites, mayDraw }: StatusOptions): StatusLine {
  let shown = false;

  const erase = () => {
    if (shown) terminal.err(ERASE);
    shown = false;
  };
  const oneLine = (label: string) => stripControls(label).replace(/\s+/g, " ").trim();

  return {
    hide: erase,
    start(label) {
      const since = clock.elapsed();
      let current = label;
      let ended = false;
      const text = () => `${oneLine(current)} (${formatDuration(clock.elapsed() - since)})`;
      const draw = () => {
        if (!mayDraw()) return;
        // A line that wraps could not be erased.
        terminal.err(`${ERASE}${clip(text(), terminal.columns - 1)}`);
        shown = true;
      };
      const tick = () => {
        if (!rewrites) return terminal.err(`${text()}\n`);
        draw();
        cancel = clock.after(SHOWN_AFTER_MS, tick);
      };
      let cancel = clock.after(SHOWN_AFTER_MS, tick);
      return {
        update(next) {
          current = next;
          if (shown && !ended) draw();
        },
        done() {
          ended = true;
          cancel();
          erase();
        },
      };
    },
  };
}

// How is the story told? A line each with its time, plain in a pipe.
import type { Context } from "../context.ts";

export const ms = (value: number): string => `${value.toFixed(1)} ms`;

export interface Teller {
  title(text: string): void;
  say(who: string, text: string, tone?: (text: string) => string): void;
}

const WHO_LETTERS = 8;

export function createTeller({ printer, world }: Context): Teller {
  const { paint } = printer;
  const since = world.clock.elapsed();
  return {
    title: (text) => printer.line(paint.bold(text)),
    say(who, text, tone = paint.bold) {
      const at = `${((world.clock.elapsed() - since) / 1000).toFixed(2)} s`;
      printer.line(`${paint.dim(at.padStart(8))}  ${tone(who.padEnd(WHO_LETTERS))} ${text}`);
    },
  };
}

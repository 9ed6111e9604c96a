// What does a demo leave that is interrupted? Nothing, whatever it was doing: no process, no agent, no directory.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { mentioning } from "./leftovers.ts";
import { SHORT_DIRECTORY, type Stage, staged } from "./support.ts";

const MOMENTS = [
  { when: "before it has said anything", says: undefined, signal: "SIGINT" },
  { when: "when it has a host", says: /holds port/, signal: "SIGTERM" },
  { when: "when a plugin is there", says: /offers a JavaScript session/, signal: "SIGHUP" },
  { when: "while its agent works", says: /writes a line every/, signal: "SIGINT" },
  { when: "behind the kill of a host", says: /kill -9/, signal: "SIGTERM" },
  { when: "while its browsers start", says: /4\. The browser dies/, signal: "SIGINT" },
] as const;

const leftOf = (stage: Stage) => ({
  files: readdirSync(join(stage.directory, "tmp")).filter((name) => name !== SHORT_DIRECTORY),
  processes: mentioning(join(stage.directory, "tmp")).filter(({ pid }) => pid !== process.pid),
});

for (const { when, says, signal } of MOMENTS) {
  test(
    `[CM5] [KP15] a demo that is ended by ${signal} ${when} exits 130 and leaves nothing`,
    staged(async (stage) => {
      const demo = stage.spawn(["demo"]);
      if (says) await demo.outSays(says);
      else await Bun.sleep(Math.random() * 300);
      demo.kill(signal);
      const { code, signal: by } = await demo.exited;
      // In its very first milliseconds the system ends it.
      expect(says || by === null ? code : 130).toBe(130);
      expect(leftOf(stage)).toEqual({ files: [], processes: [] });
    }),
    90_000,
  );
}

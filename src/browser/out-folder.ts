// What is kept of a run on disk? Events, and for each iteration the tree and a picture; private, for they show pages.
import { join } from "node:path";
import type { Redact } from "../core/redact.ts";
import type { Clock, Files } from "../platform/world.ts";
import type { StepsFile } from "../protocol/web-task.ts";
import type { Tell } from "./report.ts";

export interface OutFolder {
  readonly event: Tell;
  /** Text is written without secrets; pictures are as the page was. */
  keep(iteration: number, name: string, content: string | Uint8Array): void;
  steps(file: StepsFile): string;
  end(): void;
}

export interface OutOptions {
  files: Files;
  clock: Clock;
  redact: Redact;
  directory: string;
  writeBytes(path: string, bytes: Uint8Array): void;
}

const number = (iteration: number): string => String(iteration).padStart(3, "0");
const plainName = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]/g, "_");

export function createOutFolder({ files, clock, redact, directory, writeBytes }: OutOptions): OutFolder {
  files.directory(directory);
  const events = files.journal(join(directory, "events.ndjson"));
  let seq = 0;
  events.eachLine(() => seq++);
  return {
    event(type, data) {
      events.append(JSON.stringify({ seq: ++seq, at: clock.iso(), type, data }));
    },
    keep(iteration, name, content) {
      const folder = join(directory, "steps", number(iteration));
      files.directory(join(directory, "steps"));
      files.directory(folder);
      const path = join(folder, plainName(name));
      if (typeof content === "string") files.replace(path, redact(content));
      else writeBytes(path, content);
    },
    steps(file) {
      const path = join(directory, "steps.json");
      files.replace(path, `${JSON.stringify(redact(file), null, 2)}\n`);
      return path;
    },
    end: () => events.close(),
  };
}

// What may a web task ask of the outside? Browsers of our own, and a model over HTTP.

/** A browser of our own, in a process group and with a profile folder of its own. */
export interface BrowserProcess {
  readonly pid: number;
  /** Where it listens for CDP; undefined when it ended before it did. */
  readonly listening: Promise<string | undefined>;
  readonly exited: Promise<void>;
  /** The last lines of its stderr. */
  stderr(): readonly string[];
  /** Its processes and its folder, for good. Idempotent. */
  end(): Promise<void>;
}

export interface Browsers {
  /** Chromium or Chrome, in the usual places. */
  find(): string | undefined;
  launch(command: string, flags: readonly string[]): BrowserProcess;
  /** A folder for what the library puts down; it goes like a browser's does. */
  scratch(): { readonly path: string; end(): void };
  /** Ends what processes of ours left that were killed themselves, and tells how many browsers that were. */
  reap(): Promise<number>;
}

export interface HttpPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal;
}

export type HttpPosted =
  | { kind: "answer"; status: number; header(name: string): string | null; texts(): AsyncIterable<string> }
  | { kind: "unreachable"; message: string };

export type PostHttp = (request: HttpPost) => Promise<HttpPosted>;

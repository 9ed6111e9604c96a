// What may anything here ask of the outside? Real in `system.ts`, fake and seeded in tests.
// Expected results of IO are values, not exceptions.

export type Cancel = () => void;

export interface Clock {
  /** Epoch milliseconds, for people. */
  now(): number;
  /** Milliseconds that never jump, for durations. */
  elapsed(): number;
  iso(epochMs?: number): string;
  /** How long ago that was, by the wall; never negative. */
  since(iso: string): number;
  after(ms: number, run: () => void): Cancel;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** One end of a WebSocket. Frames are queued in front of the runtime, which would drop them in silence. */
export interface Socket {
  send(text: string): void;
  ping(): void;
  close(code: number, reason: string): void;
  /** Ends without a close frame, as a crash would. */
  cut(): void;
}

export interface SocketEvents {
  message(text: string): void;
  pong(): void;
  /** Told once, whoever ended it. */
  closed(code: number, reason: string): void;
}

export type Attach = (socket: Socket) => SocketEvents;

export interface HttpRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  header(name: string): string | null;
  upgrade: boolean;
}

export type HttpAnswer =
  | { kind: "json"; status: number; body: unknown }
  | { kind: "text"; status: number; body: string }
  | { kind: "upgrade"; attach: Attach };

export interface BindOptions {
  address: "127.0.0.1" | "::1";
  port: number;
  frameBytes: number;
  waitingBytes: number;
  answer(request: HttpRequest): HttpAnswer;
  /** A bug while a frame was handled: that socket is closed, the others live on. */
  threw?(thrown: unknown): void;
}

export interface Listener {
  readonly port: number;
  /** Frees the port at once; open sockets work on. */
  release(): void;
  /** Cuts every socket. */
  cut(): void;
}

export type Bound =
  | { kind: "bound"; listener: Listener }
  | { kind: "taken" }
  | { kind: "failed"; code: string; error: Error };

export interface ConnectOptions {
  port: number;
  path: "/client" | "/plugin";
  timeoutMs: number;
  headers?: Record<string, string>;
}

export type Connected =
  | { kind: "open"; socket: Socket }
  | { kind: "refused" }
  /** Something took the connection and dropped it, or speaks no HTTP. */
  | { kind: "broken" }
  /** Something listens and says nothing within the limit. */
  | { kind: "silent" }
  /** It speaks HTTP, and answered the upgrade with another status. */
  | { kind: "denied"; status: number };

export type Probed = { kind: "answer"; status: number; body: string } | { kind: "refused" } | { kind: "silent" };

export interface Net {
  bind(options: BindOptions): Bound;
  connect(options: ConnectOptions, attach: Attach): Promise<Connected>;
  /** `GET /health` */
  probe(port: number, timeoutMs: number): Promise<Probed>;
  /** Who holds the port, where the system tells. */
  owner(port: number): { pid: number; command: string } | undefined;
}

export interface Files {
  /** Makes a 0700 directory with its parents, or checks the one that is there. */
  directory(path: string): void;
  readPrivate(path: string): string | undefined;
  /** Replaces the file in one step, 0600. */
  replace(path: string, text: string): void;
  /** Writes over the beginning of the file in place, 0600: where it has the length already that needs no room. */
  overwrite(path: string, text: string): void;
  /** Writes the file unless it exists, and returns what it holds: losers get the winner's text. */
  createOnce(path: string, text: string): string;
  remove(path: string): void;
  /** Undefined when it is not there. */
  stats(path: string): { bytes: number; modifiedAt: number } | undefined;
  /** The names in a directory; none when it is not there. */
  list(path: string): string[];
  journal(path: string): JournalFile;
  /** Whole lines of a file that somebody else appends to; none when it is not there. */
  eachLine(path: string, from: number, tell: (line: string, offset: number) => void): void;
  /** With all that is in it. */
  removeDirectory(path: string): void;
}

/** Append-only lines. A torn last line, as a crash leaves it, is cut when it is opened. */
export interface JournalFile {
  readonly bytes: number;
  /** Whole lines, from the beginning or from where one begins. */
  eachLine(tell: (line: string, offset: number) => void, from?: number): void;
  /** The first line that begins behind this offset. */
  lineAfter(offset: number): { line: string; offset: number } | undefined;
  /** Where the line begins. Throws when the disk is full, and leaves no half line. */
  append(line: string): number;
  /** Whole lines from an offset on, until `maxBytes` were read and `enough` said so. */
  readLines(offset: number, maxBytes: number, enough: (line: string) => boolean): void;
  close(): void;
}

export interface Log {
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
}

export interface Secrets {
  nonce(): string;
  hmac(key: string, text: string): string;
  equal(left: string, right: string): boolean;
}

/** One that outlives us. */
export interface StartedProcess {
  hasEnded(): boolean;
  wasKilled(): boolean;
}

export interface ChildOptions {
  env: Readonly<Record<string, string | undefined>>;
  line(line: string): void;
  errorLine?(line: string): void;
}

export interface Child {
  readonly pid: number;
  kill(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): void;
  /** Its exit code, when everything it wrote has been told. */
  readonly exited: Promise<number>;
}

export interface World {
  clock: Clock;
  random(): number;
  newId(): string;
  pid: number;
  net: Net;
  files: Files;
  secrets: Secrets;
  log: Log;
  /** Until it is taken back, a bug that nobody caught is told and does not end the process. */
  onBug(tell: (thrown: unknown) => void): Cancel;
}

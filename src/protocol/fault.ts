// What can go wrong in ways we expect? One table: exit code, and whether asking again can help.

export const FAULTS = {
  SCRIPT_FAILED: { exit: 1, again: false },
  REFUSED: { exit: 1, again: false },
  USAGE: { exit: 2, again: false },
  INVALID_PAYLOAD: { exit: 2, again: false },
  SESSION_NOT_FOUND: { exit: 3, again: true },
  SESSION_AMBIGUOUS: { exit: 3, again: false },
  CONTEXT_NOT_FOUND: { exit: 3, again: true },
  CAPABILITY_NOT_SUPPORTED: { exit: 1, again: false },
  HOST_UNREACHABLE: { exit: 4, again: true },
  PORT_HELD: { exit: 4, again: false },
  HOST_FULL: { exit: 4, again: true },
  VERSION_SKEW: { exit: 4, again: false },
  AGENT_NOT_FOUND: { exit: 3, again: false },
  AGENT_FAILED: { exit: 1, again: true },
  DISK_FULL: { exit: 1, again: true },
  CANCELLED: { exit: 1, again: true },
  AGENT_LOST: { exit: 5, again: true },
  SESSION_DISCONNECTED: { exit: 5, again: true },
  TIMEOUT: { exit: 6, again: true },
  NOT_PERMITTED: { exit: 7, again: false },
  TASK_FAILED: { exit: 1, again: true },
  ACTION_FAILED: { exit: 1, again: true },
  BROWSER_DISCONNECTED: { exit: 5, again: true },
  ENDPOINTS_EXHAUSTED: { exit: 8, again: true },
  TOO_MANY_REQUESTS: { exit: 9, again: true },
  LIMIT_REACHED: { exit: 9, again: true },
} as const satisfies Record<string, { exit: number; again: boolean }>;

export type FaultCode = keyof typeof FAULTS;

export class Fault extends Error {
  readonly code: FaultCode;
  readonly data: Record<string, unknown>;

  constructor(code: FaultCode, message: string, data: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.data = data;
  }

  get exitCode(): number {
    return FAULTS[this.code].exit;
  }
}

/**
 * The host or the plugin went away while something was asked, or before. The outcome is unknown: what is idempotent
 * (see the action table) may be asked again on the next session, `execute` must not be.
 */
export class SessionDisconnectedError extends Fault {
  readonly sessionId: string;

  constructor(sessionId: string, why = "its host or plugin went away", options?: ErrorOptions) {
    super(
      "SESSION_DISCONNECTED",
      sessionId === ""
        ? `The connection to the host was lost: ${why}`
        : `Session "${sessionId}" is disconnected: ${why}; get a new one with waitForSession()`,
      { sessionId },
      options,
    );
    this.sessionId = sessionId;
  }
}

/** Of a host that was told to go: whoever hosts next may be asked. */
export const hostLeaves = (): SessionDisconnectedError => new SessionDisconnectedError("", "the host is shutting down");

export class SessionNotFoundError extends Fault {
  constructor(message: string, data: Record<string, unknown> = {}) {
    super("SESSION_NOT_FOUND", message, data);
  }
}

export class ContextNotFoundError extends Fault {
  constructor(message: string, data: Record<string, unknown> = {}) {
    super("CONTEXT_NOT_FOUND", message, data);
  }
}

/** Host and plugin were there, and the plugin did not answer in time. Never anything else. */
export class ActionTimeoutError extends Fault {
  constructor(action: string, timeoutMs: number) {
    super(
      "TIMEOUT",
      `The plugin did not answer "${action}" within ${Math.round(timeoutMs)} ms; raise it with --timeout`,
      {
        action,
        timeoutMs,
      },
    );
  }
}

export class HostUnreachableError extends Fault {
  readonly host: string;
  readonly port: number;

  /** `nobody`: nothing listens there at all. */
  constructor(host: string, port: number, why: string, options: ErrorOptions & { nobody?: boolean } = {}) {
    const { nobody = false, ...rest } = options;
    super("HOST_UNREACHABLE", `No holdfast host answers on ${host}:${port}: ${why}`, { host, port, nobody }, rest);
    this.host = host;
    this.port = port;
  }
}

export class CapabilityNotSupportedError extends Fault {
  constructor(action: string, sessionId: string) {
    super("CAPABILITY_NOT_SUPPORTED", `Session "${sessionId}" does not offer "${action}"`, { action, sessionId });
  }
}

export const isFaultCode = (code: string): code is FaultCode => Object.hasOwn(FAULTS, code);

/** What went wrong, as text, whatever was thrown. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** For those who mend it. */
export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

/** What libraries add below it is a log of their own. */
export const firstLineOf = (thrown: unknown): string => messageOf(thrown).split("\n", 1)[0] ?? "";

export const isDiskFull = (thrown: unknown): boolean =>
  /^(ENOSPC|EDQUOT|DISK_FULL)$/.test(String((thrown as { code?: unknown } | undefined)?.code));

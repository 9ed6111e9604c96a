// What can go wrong with a browser? A lost one is recoverable; used-up endpoints are not; the rest is the action's.
import { Fault, type FaultCode } from "./fault.ts";

/** Worth going on after: on another browser, or with another action. */
export class RecoverableError extends Fault {}

/** The connection to the browser is gone, or the browser is frozen. */
export class BrowserDisconnectedError extends RecoverableError {
  constructor(why: string, options?: ErrorOptions) {
    super("BROWSER_DISCONNECTED", `Browser connection lost: ${why}`, {}, options);
  }
}

/** The browser is there, and would not do it. */
export class BrowserActionException extends RecoverableError {
  constructor(message: string, options?: ErrorOptions, code: FaultCode = "ACTION_FAILED") {
    super(code, message, {}, options);
  }
}

export class InvalidRefException extends BrowserActionException {
  constructor(ref: string) {
    super(`Ref "${ref}" is not in the page any more; take it from the snapshot that follows`);
  }
}

/** Not recoverable: there is no browser left to go on with. */
export class EndpointsExhaustedError extends Fault {
  constructor(total: number, errors: readonly string[], options?: ErrorOptions) {
    const last = errors.at(-1);
    super(
      "ENDPOINTS_EXHAUSTED",
      `All ${total} browser endpoints are used up${last ? `, the last: ${last}` : ""}; give more with --cdp`,
      { total, errors },
      options,
    );
  }
}

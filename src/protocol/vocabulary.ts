// Which words are chosen from a list, and how may things be named? Beside the schemas, so that a command needs none.

export const CONTEXTS = ["edit", "client", "server"] as const;
export const LOG_LEVELS = ["Print", "Info", "Warning", "Error"] as const;
export const POLICIES = ["ask", "allow", "deny", "allow-reads"] as const;

export const SESSION_NAME = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  says: "letters, digits, dot, dash and underscore, 64 at most",
} as const;

/** A client's nonce comes with its upgrade too: a host that looks there proves itself one round trip sooner. */
export const NONCE_HEADER = "x-holdfast-nonce";

/** What a plugin says of itself is told to every client: huge names would drown them all. */
export const MOST_NAME_LETTERS = 4_096;

/** Those a host knows by itself; config may add to them without saying what to run. */
export const BUILT_IN_AGENTS = ["claude-code", "codex", "gemini", "opencode", "demo"] as const;

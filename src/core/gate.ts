// Who may talk to the port at all? Loopback is no wall: web pages and rebound names can reach it.

export type Gate = { kind: "open" } | { kind: "closed"; status: 403 | 404 | 503; why: string };

export interface Knock {
  method: string;
  path: string;
  upgrade: boolean;
  host: string | null;
  origin: string | null;
}

const OUR_NAMES = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The name without its port; any port is right, for tunnels. */
const nameOf = (host: string): string => host.replace(/:\d*$/, "").toLowerCase();

export const UPGRADE_PATHS: ReadonlySet<string> = new Set(["/plugin", "/client"]);

export function knock({ method, path, upgrade, host, origin }: Knock): Gate {
  if (host === null || !OUR_NAMES.has(nameOf(host))) {
    return { kind: "closed", status: 403, why: "Forbidden: the Host header must name 127.0.0.1, localhost or [::1]" };
  }
  const isHealth = method === "GET" && path === "/health" && !upgrade;
  if (origin !== null && !isHealth) {
    return { kind: "closed", status: 403, why: "Forbidden: web pages may not connect" };
  }
  if (isHealth || (upgrade && UPGRADE_PATHS.has(path))) return { kind: "open" };
  return { kind: "closed", status: 404, why: "Not Found" };
}

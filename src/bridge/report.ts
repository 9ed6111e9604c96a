// What does a host say of itself? `/health` to anybody, `status` to those who proved themselves.
import type { Clock } from "../platform/world.ts";
import type { Health } from "../protocol/health.ts";
import type { HostStatus, SessionInfo } from "../protocol/host-messages.ts";
import { PROTOCOL_VERSION, VERSION } from "../protocol/version.ts";
import type { Client } from "./client-link.ts";
import type { Courtesy } from "./courtesy.ts";
import type { HostOptions } from "./host.ts";
import type { Roster } from "./roster.ts";

interface Deps {
  clock: Clock;
  pid: number;
  options: HostOptions;
  roster: Roster;
  sessions(): SessionInfo[];
  malformedFrames(): number;
  endsWhenIdle(): string | null;
}

export interface Report {
  health(port: number): Health;
  /** Without the client that asks. */
  status(port: number, courtesy: Courtesy, asker: Client): HostStatus;
}

export function createReport({ clock, pid, options, roster, sessions, malformedFrames, endsWhenIdle }: Deps): Report {
  const since = { elapsed: clock.elapsed(), iso: clock.iso() };
  const lastFailoverAt = options.failover ? since.iso : null;
  const { settings, background, logFile } = options;
  return {
    health: (port) => ({
      status: "ok",
      port,
      sessions: sessions().length,
      uptime: Math.round(clock.elapsed()),
      hostUptime: Math.round(clock.elapsed() - since.elapsed),
      lastFailoverAt,
      protocolVersion: PROTOCOL_VERSION,
      serverVersion: VERSION,
    }),
    status: (port, courtesy, asker) => ({
      port,
      pid,
      version: VERSION,
      startedAt: clock.iso(clock.now() - clock.elapsed()),
      hostSince: since.iso,
      lastFailoverAt,
      background,
      auth: settings.auth,
      pluginToken: settings.pluginToken !== null,
      addresses: [
        { address: "127.0.0.1", listening: true },
        { address: "[::1]", listening: courtesy.listening, ...(courtesy.note ? { note: courtesy.note } : {}) },
      ],
      clients: roster
        .remote()
        .filter((client) => client !== asker)
        .map((client) => ({
          clientId: client.clientId,
          pid: client.pid,
          standing: client.standing,
          rank: roster.rankOf(client),
        })),
      sessions: sessions(),
      malformedFrames: malformedFrames(),
      logFile,
      endsWhenIdle: endsWhenIdle(),
    }),
  };
}

// What does the host know of one connected plugin?

import type { Socket } from "../platform/world.ts";
import type { SessionInfo } from "../protocol/host-messages.ts";
import { contextOf, Register } from "../protocol/plugin.ts";

export interface PluginSession {
  info: SessionInfo;
  /** The id this plugin goes by on its own socket; differs from the public one when two plugins proposed the same. */
  wireId: string;
  pending: number;
  send(message: Record<string, unknown>): void;
  socket: Socket;
  /** Sends a ping; whether anything came back within the limit. */
  answers(withinMs: number): Promise<boolean>;
}

export const toInfo = (register: Register, sessionId: string, connectedAt: string): SessionInfo => ({
  sessionId,
  placeName: register.placeName,
  ...(register.placeFile === undefined ? {} : { placeFile: register.placeFile }),
  state: register.state,
  pluginVersion: register.pluginVersion,
  capabilities: register.capabilities,
  connectedAt,
  origin: "user",
  context: register.context ?? contextOf(register.state),
  instanceId: register.instanceId,
  placeId: register.placeId ?? 0,
  gameId: register.gameId ?? 0,
});

/** The older greeting names neither instance nor place: the session stands for itself. */
export const registerOfHello = (sessionId: string, payload: Record<string, unknown>): Register =>
  Register.parse({
    pluginVersion: "unknown",
    capabilities: ["execute"],
    ...payload,
    instanceId: sessionId,
    placeName: "",
    state: "Edit",
  });

export const sameIdentity = (left: SessionInfo, right: SessionInfo): boolean =>
  left.instanceId === right.instanceId && left.context === right.context;

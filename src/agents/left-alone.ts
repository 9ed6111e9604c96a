// What if agents and sessions of this port are in use elsewhere? They are left alone, and whoever asks is told.
import type { AgentInfo } from "../protocol/agents.ts";
import { Fault, hostLeaves } from "../protocol/fault.ts";
import type { AgentService } from "./service-needs.ts";

export interface Elsewhere {
  /** As people say it. */
  where: string;
  /** Names of the agents there. */
  agents: string[];
}

export interface LeftAloneDeps {
  port: number;
  /** Undefined: nobody else uses them, or no more. */
  elsewhere(): Elsewhere | undefined;
  open(): AgentService;
  warn(message: string): void;
}

const infoOf = (name: string): AgentInfo => ({
  name,
  displayName: name,
  command: "",
  found: true,
  install: "",
  status: "elsewhere",
  pid: null,
  keeper: null,
});

/** Looks again whenever it is asked: the others may have ended meanwhile. */
export function unlessElsewhere({ port, elsewhere, open, warn }: LeftAloneDeps): AgentService {
  let service: AgentService | undefined;
  let isOver = false;
  let isTold = false;
  /** Who uses them, as long as somebody does. */
  const look = (): Elsewhere | undefined => {
    if (service || isOver) return undefined;
    const found = elsewhere();
    if (!found) service = open();
    else if (!isTold) warn(messageFor(found));
    isTold = found !== undefined;
    return found;
  };
  const messageFor = ({ where }: Elsewhere): string =>
    `Agents and sessions of port ${port} are in use ${where}, which shares this state directory, and are left alone; ` +
    "choose another port with --port, or another state directory with XDG_STATE_HOME";
  look();
  return {
    async asked(client, request) {
      const found = look();
      if (service) return await service.asked(client, request);
      if (found && request.verb === "agents") return found.agents.map(infoOf);
      throw found ? new Fault("REFUSED", messageFor(found), { elsewhere: found.where }) : hostLeaves();
    },
    acknowledged: (...words) => service?.acknowledged(...words),
    left: (clientId) => service?.left(clientId),
    infos: () => service?.infos() ?? [],
    company: () => service?.company() ?? 0,
    async endAgents() {
      const found = look();
      return found ? [messageFor(found)] : ((await service?.endAgents()) ?? []);
    },
    async leave(handsOver) {
      isOver = true;
      await service?.leave(handsOver);
    },
    async end() {
      isOver = true;
      await service?.end();
    },
  };
}

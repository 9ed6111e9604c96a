// How does a connection get to a host, whatever kind of client it is?
import type { HostMessage } from "../protocol/host-messages.ts";
import type { HostLink } from "./join.ts";

/** How a connection gets a link, at first and after each loss. */
export interface Reacher {
  first(receive: (message: HostMessage) => void, lost: (why: { hung: boolean }) => void): Promise<HostLink>;
  /** Undefined: we are leaving. */
  again(why: { hung: boolean }): Promise<HostLink | undefined>;
  /** The link is in use. */
  settled(link: HostLink): void;
  transferNotice(): void;
  succession(rank: number): void;
  inLine(standing: number): void;
  /** Gives back what the link alone does not hold: the host itself. */
  leave(): Promise<void>;
}

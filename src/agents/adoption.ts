// How does a host go on where the last one was? Agents first, which fences that host; then sessions, then what was said since.
import type { Keepers, LeftAgent } from "../platform/agent-world.ts";
import type { Clock } from "../platform/world.ts";
import type { AgentManager } from "./agent-manager.ts";
import type { Started } from "./agent-slot.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { Launcher } from "./launcher.ts";
import type { Opener } from "./opener.ts";
import type { Registry } from "./registry.ts";

export interface AdoptionDeps {
  clock: Clock;
  keepers: Keepers | undefined;
  launcher: Launcher;
  manager: AgentManager;
  opener: Opener;
  registry: Registry;
  watch: IdleWatch;
}

interface Adopted extends Started {
  left: LeftAgent;
  isGone: boolean;
}

export async function adoptLeft({
  clock,
  keepers,
  launcher,
  manager,
  opener,
  registry,
  watch,
}: AdoptionDeps): Promise<void> {
  const left = keepers ? await keepers.left() : [];
  const adopted = left.map(
    (each): Adopted => ({ left: each, isGone: each.isGone || each.isEnding, ...launcher.adopt(each) }),
  );
  const byRun = new Map(adopted.map((each) => [each.left.run, each]));

  const sessions = registry.restore();
  for (const session of sessions) {
    const agent = byRun.get(session.fold.run ?? "");
    if (agent) opener.isOpen(agent.client, session);
    watch.restore(session);
  }
  const taken = new Set<string>();
  for (const each of adopted) {
    const { agent } = each.left;
    if (each.isGone || taken.has(agent)) manager.bury(agent, each);
    else {
      taken.add(agent);
      manager.adopt(agent, each);
    }
  }
  for (const session of sessions) {
    const agent = byRun.get(session.fold.run ?? "");
    session.resume(agent?.client, agent?.isGone ?? true);
  }
  // What was said meanwhile is read first: whoever asks now is told how things are, and not how they were.
  if (adopted.length > 0) await clock.sleep(0);
}

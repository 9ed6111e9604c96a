// Who is killed, stopped or told to go? Every role by itself, in storms, and right at its birth.
import type { Role } from "../processes.ts";
import { type Fault, freeze, kill, type Stroke, victim } from "./fault.ts";

const killOf = (role: Role, weight: number): Fault => ({
  name: `kill-${role}`,
  says: `kill -9 of a ${role}`,
  weight,
  async strike(stroke) {
    const found = victim(stroke, role);
    if (found) kill(stroke, `kill-${role}`, role, found.pid);
  },
});

const freezeOf = (role: Role, weight: number): Fault => ({
  name: `freeze-${role}`,
  says: `SIGSTOP of a ${role}, and SIGCONT up to three seconds later`,
  weight,
  async strike(stroke) {
    const found = victim(stroke, role);
    if (found) stroke.later(freeze(stroke, `freeze-${role}`, role, found.pid, stroke.dice.between(20, 3_000)));
  },
});

const tellOf = (role: Role, weight: number): Fault => ({
  name: `tell-${role}`,
  says: `SIGTERM or Ctrl-C to a ${role}`,
  weight,
  async strike({ yard, dice, ...stroke }) {
    const found = victim({ yard, dice, ...stroke }, role);
    const signal = dice.pick(["SIGTERM", "SIGINT"] as const);
    if (found && yard.signal(found.pid, signal))
      yard.history.fault({ name: `tell-${role}`, what: `leave ${role}`, pid: found.pid });
  },
});

async function storm(stroke: Stroke): Promise<void> {
  const { dice } = stroke;
  for (let blows = dice.whole(4, 12); blows > 0 && !stroke.isOver(); blows--) {
    const role = dice.pick(["host", "host", "host", "standby", "keeper", "client"] as const);
    const found = victim(stroke, role);
    if (found) kill(stroke, "storm", role, found.pid);
    await Bun.sleep(dice.between(0, 60));
  }
}

/** Whoever is new among ours dies within milliseconds of its start. */
async function birth(stroke: Stroke): Promise<void> {
  const { yard, dice } = stroke;
  const roles = ["host", "keeper", "standby", "client", "browser"] as const;
  const before = new Set(yard.processes.all().map(({ pid }) => pid));
  const until = performance.now() + 1_500;
  let left = dice.whole(1, 3);
  while (left > 0 && performance.now() < until && !stroke.isOver()) {
    const fresh = yard.processes.members(...roles).filter(({ pid }) => !before.has(pid));
    for (const { pid } of fresh) before.add(pid);
    const [found] = fresh;
    if (found) {
      left--;
      await Bun.sleep(dice.between(0, 40));
      kill(stroke, "birth", found.role, found.pid);
    }
    await Bun.sleep(4);
  }
}

export const KILLS: readonly Fault[] = [
  killOf("host", 6),
  killOf("keeper", 3),
  killOf("agent", 1),
  killOf("client", 3),
  killOf("standby", 2),
  killOf("plugin", 0.5),
  killOf("browser", 2),
  freezeOf("host", 1),
  freezeOf("keeper", 1),
  freezeOf("agent", 1),
  freezeOf("client", 1),
  freezeOf("standby", 1),
  freezeOf("browser", 0.5),
  tellOf("host", 2),
  tellOf("client", 1),
  tellOf("standby", 1),
  { name: "storm", says: "four to twelve kills in quick succession", weight: 2.5, strike: storm },
  { name: "birth", says: "processes killed within milliseconds of their start", weight: 1, strike: birth },
];

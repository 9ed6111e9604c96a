// What if a host is told to leave, at any stage of its takeover? By SIGTERM, by Ctrl-C, or by `stop`.
import { type Fault, freeze, kill, type Stroke, victim } from "./fault.ts";

const NEXT_MS = 4_000;
const SECOND = 1_000;

function tell({ yard, dice, later }: Stroke, name: string, pid: number): void {
  const how = dice.pick(["SIGTERM", "SIGINT", "stop"] as const);
  const promoted = yard.history.promotions.findLast((each) => each.pid === pid)?.at ?? 0;
  const isFresh = Date.now() - promoted <= SECOND;
  const what = how === "stop" ? "stop host" : "leave host";
  if (how === "stop") later(yard.run("stop", ["stop"]).then(() => undefined));
  else if (!yard.signal(pid, how)) return;
  yard.history.fault({ name, what, pid });
  if (isFresh) yard.history.fault({ name, what: "told within a second", pid });
}

/** Half of them in the first moments, when it still adopts. */
const moment = ({ dice }: Stroke): number => (dice.chance(0.6) ? dice.between(0, 80) : dice.between(80, SECOND));

async function chain(stroke: Stroke, name: string): Promise<void> {
  const { yard, dice, nextHost } = stroke;
  let pid = yard.processes.host();
  if (pid === undefined) return;
  if (dice.chance(0.6)) kill(stroke, name, "host", pid);
  else tell(stroke, name, pid);
  for (let more = dice.whole(1, 3); more > 0; more--) {
    pid = await nextHost(pid, NEXT_MS);
    if (pid === undefined) return;
    await Bun.sleep(moment(stroke));
    tell(stroke, name, pid);
  }
}

export const LEAVES: readonly Fault[] = [
  {
    name: "leave",
    says: "the host is killed or told, and its successors are told to leave 0 to 1,000 ms after their promotion",
    weight: 6,
    strike: (stroke) => chain(stroke, "leave"),
  },
  {
    name: "leave-frozen",
    says: "the same while a keeper is stopped, so that adoption takes long",
    weight: 3,
    async strike(stroke) {
      const keeper = victim(stroke, "keeper");
      if (keeper) stroke.later(freeze(stroke, "leave-frozen", "keeper", keeper.pid, stroke.dice.between(100, 2_500)));
      await chain(stroke, "leave-frozen");
    },
  },
];

// What else goes wrong? Two hosts that start at once, `stop` out of the blue, few descriptors, a clock that is off.
import { type Fault, kill, type Stroke } from "./fault.ts";

const LIFE_MS = 5_000;

/** A standby that lacks something; it stands first in line when the host dies, and goes after a while. */
async function oddStandby(stroke: Stroke, name: string, what: string, prefix: readonly string[]): Promise<void> {
  const { yard, dice, later } = stroke;
  const fault = yard.history.fault({ name, what, until: Number.POSITIVE_INFINITY });
  const odd = yard.start("serve", ["serve", "--standby", "--json"], {
    prefix,
    about: { crippled: true },
    deadlineMs: Number.POSITIVE_INFINITY,
  });
  const host = yard.processes.host();
  await Bun.sleep(dice.between(50, 600));
  if (host !== undefined) kill(stroke, name, "host", host);
  const leaving = Bun.sleep(dice.between(500, LIFE_MS)).then(async () => {
    if (!odd.isOver()) odd.tell(dice.pick(["SIGTERM", "SIGKILL"]));
    await odd.ended;
    fault.until = Date.now();
  });
  later(leaving);
}

const hasFaketime = Bun.which("faketime") !== null;

export const ODD: readonly Fault[] = [
  {
    name: "stop",
    says: "holdfast stop, whoever hosts and however long",
    weight: 1,
    async strike({ yard, later }) {
      const pid = yard.processes.host();
      yard.history.fault({ name: "stop", what: "stop host", ...(pid === undefined ? {} : { pid }) });
      later(yard.run("stop", ["stop"]).then(() => undefined));
    },
  },
  {
    name: "two-serves",
    says: "the host is killed, and two serve are started at once",
    weight: 1,
    async strike(stroke) {
      const { yard, dice, later } = stroke;
      const host = yard.processes.host();
      if (host !== undefined && dice.chance(0.8)) kill(stroke, "two-serves", "host", host);
      const both = [1, 2].map(() => yard.start("serve", ["serve", "--json"], { deadlineMs: Number.POSITIVE_INFINITY }));
      yard.history.note("two serve at once");
      const leaving = Bun.sleep(dice.between(300, 3_000)).then(async () => {
        for (const each of both) if (!each.isOver()) each.tell(dice.pick(["SIGTERM", "SIGINT", "SIGKILL"]));
        await Promise.all(both.map(({ ended }) => ended));
      });
      later(leaving);
    },
  },
  {
    name: "few-files",
    says: "a host that may open few files (ulimit -n)",
    weight: 0.7,
    async strike(stroke) {
      const limit = stroke.dice.pick([32, 40, 48, 64]);
      await oddStandby(stroke, "few-files", "cripple host", ["bash", "-c", `ulimit -n ${limit}; exec "$@"`, "-"]);
    },
  },
  {
    name: "clock",
    says: "a host whose clock is off by up to two days (faketime)",
    weight: 0.7,
    missing: () => (hasFaketime ? undefined : "faketime is not installed"),
    async strike(stroke) {
      const offset = stroke.dice.pick(["-2d", "-1h", "-20s", "+20s", "+1h", "+2d"]);
      await oddStandby(stroke, "clock", "turn clock", ["faketime", "--exclude-monotonic", "-m", "-f", offset]);
    },
  },
];

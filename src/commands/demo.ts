// holdfast demo: kills the host in the middle of work, and shows who took over and what became of the requests.
import { createState } from "../bridge/state.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { type Actor, type Stage, setStage } from "./demo/stage.ts";
import { type Outcome, startTraffic, type Traffic } from "./demo/traffic.ts";

interface Takeover {
  signal: "SIGKILL" | "SIGTERM";
  from: number;
  to: number;
  /** From the signal to the new host's first word. */
  tookMs: number;
  /** From the signal to the next answer of the plugin. */
  answerMs: number;
}

export const demo = holdfastCommand({
  name: "demo",
  args: {},
  examples: [
    { line: "holdfast demo", says: "A host, two standbys, a plugin and traffic; two hosts are ended under it" },
  ],
  details: "Everything runs on a free port with a state directory of its own, and nothing is left behind.",
  async run(_, context) {
    const stage = setStage(context);
    try {
      return await play(context, stage);
    } finally {
      await stage.clear();
    }
  },
});

async function play(context: Context, stage: Stage): Promise<number> {
  const { printer, world } = context;
  const { paint } = printer;
  const since = world.clock.elapsed();
  const say = (text: string): void => {
    const at = `${((world.clock.elapsed() - since) / 1000).toFixed(2)} s`;
    printer.line(`${paint.dim(at.padStart(7))}  ${text}`);
  };

  const host = stage.start("The host", ["serve", "--port", "0"]);
  const { port } = (await host.event("started")) as { port: number };
  say(`${paint.bold("host")}     ${host.child.pid} holds port ${port}`);
  const standbys: Actor[] = [];
  for (const number of [1, 2]) {
    const standby = stage.start(`Standby ${number}`, ["serve", "--standby", "--port", String(port)]);
    await standby.event("started");
    standbys.push(standby);
    say(`${paint.bold("standby")}  ${standby.child.pid} stands in line`);
  }
  const plugin = stage.start("The plugin", ["plugin", "js", "--port", String(port)]);
  await plugin.event("connected");
  say(`${paint.bold("plugin")}   ${plugin.child.pid} offers a JavaScript session`);

  const connection = await context.open({ port, mode: "command", state: createState(world, stage.stateDirectory) });
  const traffic = startTraffic(world.clock, connection);
  await answers(traffic, 100);
  say(`${paint.bold("traffic")}  ${traffic.answered} requests answered, one after the other`);

  const [first, second] = standbys as [Actor, Actor];
  const crash = await takeOver(context, "SIGKILL", host, first, traffic);
  say(
    `${paint.red("kill -9")}  ${crash.from}: ${paint.green(String(crash.to))} hosts after ${paint.bold(ms(crash.tookMs))}, the plugin answers again after ${ms(crash.answerMs)}`,
  );
  await answers(traffic, 100);
  const graceful = await takeOver(context, "SIGTERM", first, second, traffic);
  say(
    `${paint.yellow("SIGTERM")}  ${graceful.from}: ${paint.green(String(graceful.to))} hosts after ${paint.bold(ms(graceful.tookMs))}, the plugin answers again after ${ms(graceful.answerMs)}`,
  );
  await answers(traffic, 100);

  const outcome = await traffic.stop();
  await connection.disconnect();
  const { answered, unknown, lost, doubled } = outcome;
  const tone = isWhole(outcome) ? paint.green : paint.red;
  say(
    `${paint.bold("result")}   ${answered} answered, ${unknown} in flight when a host went (exit code 5, never repeated)`,
  );
  say(`         ${tone(`lost ${lost}, doubled ${doubled}`)}`);
  printer.json({ port, takeovers: [crash, graceful], ...outcome });
  return isWhole(outcome) ? 0 : 1;
}

const isWhole = ({ lost, doubled }: Outcome): boolean => lost + doubled === 0;

const ms = (value: number): string => `${value.toFixed(1)} ms`;

async function answers(traffic: Traffic, count: number): Promise<void> {
  for (let left = count; left > 0; left--) await traffic.next();
}

async function takeOver(
  { world }: Context,
  signal: Takeover["signal"],
  old: Actor,
  heir: Actor,
  traffic: Traffic,
): Promise<Takeover> {
  const { clock } = world;
  const since = clock.elapsed();
  old.child.kill(signal);
  await heir.event("role-changed");
  const tookMs = clock.elapsed() - since;
  await traffic.next();
  return { signal, from: old.child.pid, to: heir.child.pid, tookMs, answerMs: clock.elapsed() - since };
}

// holdfast demo: kills hosts, a keeper, an agent and a browser in the middle of work, and shows what became of it.
import { createState } from "../bridge/state.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { createAgentAct } from "./demo/agent-act.ts";
import { playBrowser } from "./demo/browser-act.ts";
import type { Lines } from "./demo/lines.ts";
import { type Actor, firstToSay, type Stage, setStage } from "./demo/stage.ts";
import { createTeller, ms } from "./demo/teller.ts";
import { startTraffic, type Traffic } from "./demo/traffic.ts";
import { exitCodeFor, isWhole } from "./demo/verdict.ts";
import { unlessOver } from "./time-limit.ts";

interface Takeover {
  signal: "SIGKILL" | "SIGTERM";
  from: number;
  to: number;
  /** From the signal to the new host's first word. */
  tookMs: number;
  /** From the signal to the next answer of the plugin. */
  answerMs: number;
  /** From the signal to the agent's next line. */
  lineMs: number;
}

const LINES = 1_500;
const EVERY_MS = 2;

export const demo = holdfastCommand({
  name: "demo",
  args: {},
  examples: [
    {
      line: "holdfast demo",
      says: "Hosts, a keeper, an agent and a browser are killed under work; requests and lines are counted",
    },
    { line: "holdfast demo --format json", says: "The figures" },
  ],
  details: "Everything runs on a free port with a state directory of its own, and nothing is left behind.",
  // Whatever ends it, at whatever moment: first everybody leaves, then the state directory goes.
  endsItself: true,
  async run(_, context) {
    const stage = setStage(context);
    const playing = play(context, stage);
    try {
      return await unlessOver(context.signal, playing);
    } finally {
      await stage.clear(playing);
    }
  },
});

async function play(context: Context, stage: Stage): Promise<number> {
  const { printer, world } = context;
  const { paint } = printer;
  const { clock } = world;
  const { say, title } = createTeller(context);
  const begunAt = clock.elapsed();

  title("1. The host dies");
  const host = stage.start("The host", ["serve", "--port", "0"]);
  const { port } = (await host.event("started")) as { port: number };
  stage.hostedOn(port);
  say("host", `${host.child.pid} holds port ${port}`);
  const standby = async (number: number): Promise<Actor> => {
    const started = stage.start(`Standby ${number}`, ["serve", "--standby", "--port", String(port)]);
    await started.event("started");
    say("standby", `${started.child.pid} stands in line`);
    return started;
  };
  const standbys = [await standby(1), await standby(2)];
  const plugin = stage.start("The plugin", ["plugin", "js", "--port", String(port)]);
  await plugin.event("connected");
  say("plugin", `${plugin.child.pid} offers a JavaScript session`);

  const connection = await context.open({ port, mode: "command", state: createState(world, stage.stateDirectory) });
  stage.asks(connection);
  const traffic = startTraffic(clock, connection);
  await times(traffic.next, 50);
  const act = createAgentAct(context, stage, connection);
  const lines = await act.stream(LINES, EVERY_MS);
  await times(lines.next, 20);
  const { agent, keeper } = await act.pids();
  say("agent", `${agent} writes a line every ${EVERY_MS} ms, held by keeper ${keeper}`);
  say("traffic", `${traffic.answered} requests answered, ${lines.count} lines written`);

  const { heir, ...crash } = await takeOver(context, "SIGKILL", host, standbys, traffic, lines);
  say("kill -9", describe(crash, paint.green, paint.bold), paint.red);

  title("2. and 3. The agent works on, whoever dies around it");
  await times(lines.next, 50);
  const keeperMs = await killed(context, keeper, lines);
  say("kill -9", `${keeper}, the keeper: the next line comes after ${paint.bold(ms(keeperMs))}`, paint.red);
  await times(lines.next, 50);
  const rest = standbys.filter((each) => each !== heir);
  const { heir: _, ...graceful } = await takeOver(context, "SIGTERM", heir, rest, traffic, lines);
  say("SIGTERM", describe(graceful, paint.green, paint.bold), paint.yellow);
  const { stopReason } = await lines.ended;
  const streamed = lines.outcome(LINES);
  say("agent", `its turn ended (${stopReason}): ${streamed.lines} of ${LINES} lines`);

  const turn = await act.stream(LINES, EVERY_MS);
  await times(turn.next, 20);
  const since = clock.elapsed();
  context.killProcess(agent);
  const told = await turn.ended;
  const toldMs = told.at - since;
  say("kill -9", `${agent}, the agent: told after ${paint.bold(ms(toldMs))} that its outcome is unknown`, paint.red);
  const answer = await act.ask("still there?");
  say("agent", `started again, the conversation restored: ${paint.green(answer)}`);

  const outcome = await traffic.stop();
  await connection.disconnect();

  title("4. The browser dies");
  const browser = await playBrowser(context, stage, (text) => say("browser", text));
  if (browser) {
    say(
      "kill -9",
      `${browser.killed}, the browser: the next one is ready after ${paint.bold(ms(browser.readyMs))}`,
      paint.red,
    );
    say(
      "browser",
      `the task of ${browser.steps} steps is ${browser.success ? paint.green("done") : paint.red("not done")}`,
    );
  } else say("browser", "no Chromium or Chrome is found here: left out");

  const whole = isWhole({
    requests: outcome,
    streamed,
    stopReason,
    killedReason: told.stopReason,
    restored: answer,
    browser,
  });
  const tone = whole ? paint.green : paint.red;
  title("What became of it");
  say(
    "plugin",
    `${outcome.answered} answered, ${outcome.unknown} in flight when a host went (exit code 5, never repeated)`,
  );
  say("", tone(`lost ${outcome.lost}, doubled ${outcome.doubled}`));
  say("agent", `${streamed.lines} lines through two hosts and a keeper`);
  say("", tone(`lost ${streamed.lost}, doubled ${streamed.doubled}`));
  const agentFigures = { ...streamed, keeperMs, toldMs, restored: answer };
  printer.json({
    port,
    takeovers: [crash, graceful],
    requests: outcome,
    agent: agentFigures,
    browser: browser ?? null,
    whole,
    tookMs: clock.elapsed() - begunAt,
  });
  return exitCodeFor(whole);
}

type Tone = (text: string) => string;

const describe = ({ from, to, tookMs, answerMs, lineMs }: Takeover, green: Tone, bold: Tone): string =>
  `${from}: ${green(String(to))} hosts after ${bold(ms(tookMs))}; next answer after ${ms(answerMs)}, next line after ${ms(lineMs)}`;

async function times(next: () => Promise<void>, count: number): Promise<void> {
  for (let left = count; left > 0; left--) await next();
}

async function takeOver(
  { world }: Context,
  signal: Takeover["signal"],
  old: Actor,
  inLine: readonly Actor[],
  traffic: Traffic,
  lines: Lines,
): Promise<Takeover & { heir: Actor }> {
  const { clock } = world;
  const since = clock.elapsed();
  const after = (): number => clock.elapsed() - since;
  old.child.kill(signal);
  // Mostly the first in line; on a busy machine whoever is awake first.
  const heir = await firstToSay(inLine, "role-changed");
  const tookMs = after();
  // What was on its way may still have arrived: only lines after the takeover count.
  await lines.next();
  const lineMs = after();
  await traffic.next();
  return { signal, from: old.child.pid, to: heir.child.pid, tookMs, answerMs: after(), lineMs, heir };
}

async function killed({ world, killProcess }: Context, pid: number, lines: Lines): Promise<number> {
  const since = world.clock.elapsed();
  killProcess(pid);
  await lines.next();
  return world.clock.elapsed() - since;
}

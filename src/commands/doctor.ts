// holdfast doctor: is everything as it should be, and what is to be done where it is not?
import { join } from "node:path";
import { type Checkup, systemCheckup } from "../platform/checkup.ts";
import type { Config } from "../protocol/config.ts";
import { Fault } from "../protocol/fault.ts";
import { orFault, orPlain } from "../protocol/file-fault.ts";
import { toggle } from "../surface/argument.ts";
import type { Tone } from "../surface/text.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { counted, type Finding, type Level, ok, problem, summaryOf } from "./doctor/finding.ts";
import { clearLeftovers, closeFiles } from "./doctor/fix.ts";
import { judgeKeepers, keptPorts } from "./doctor/keepers.ts";
import { checkMachine } from "./doctor/machine.ts";
import { judgeModes, judgeWritable } from "./doctor/modes.ts";
import { findHolder, isHosted, judgePort } from "./doctor/port.ts";
import { checkAgents, checkBrowser } from "./doctor/programs.ts";
import { ownSettings } from "./own-settings.ts";
import { timeLimitArg, within } from "./time-limit.ts";

export const doctor = holdfastCommand({
  name: "doctor",
  args: {
    fix: toggle("Do what is safe: close files that are open to others, clear what dead agents left"),
    timeout: timeLimitArg,
  },
  examples: [
    { line: "holdfast doctor", says: "One line each: ok, warning or problem, with what to do" },
    { line: "holdfast doctor --json", says: "An array of them, for programs" },
    { line: "holdfast doctor --fix", says: "Closes what is too open, clears leftovers, and says what it did" },
  ],
  details: "Exit code 0 when there is no problem, else 1; warnings are no problem. It looks, and starts no host.",
  async run(args, context) {
    const { printer } = context;
    const looking = printer.progress("Looking");
    const work = async (): Promise<Finding[]> => {
      const done = args.fix ? await fix(context) : [];
      return [...done, ...(await examine(context, args.port))];
    };
    const findings = await within(context, args.timeout, work()).finally(looking.done);
    printer.json(findings);
    show(context, findings);
    return findings.some(({ level }) => level === "problem") ? 1 : 0;
  },
});

async function fix(context: Context): Promise<Finding[]> {
  const done = closeFiles(systemCheckup, context.state.directory);
  return [...done, ...(await clearLeftovers(context, systemCheckup))];
}

async function examine(context: Context, port: number): Promise<Finding[]> {
  const { state, world, env } = context;
  const checkup = systemCheckup;
  const config = await checkConfig(context);
  // All of this waits for others; together it takes as long as the slowest.
  const [holder, keepers, agents, browser] = await Promise.all([
    findHolder(context, port),
    checkKeepers(context, checkup),
    checkAgents(checkup, config.config, env),
    checkBrowser(checkup, env),
  ]);
  return [
    ...checkMachine(checkup, state.directory),
    ...judgePort(port, holder, holder.kind === "nobody" ? undefined : world.net.owner(port)),
    ...judgeWritable(state.directory, checkup.isWritable(state.directory)),
    ...judgeModes(state.directory, checkup.entries(state.directory)),
    ...checkToken(context),
    ok("files", `Hosts in the background log to ${join(state.directory, "logs")}, 5 files of 1 MiB each`),
    ...config.findings,
    ...keepers,
    ...agents,
    ...browser,
  ];
}

/** Only what is expected to go wrong: the rest is a bug, and must be seen. */
function problemOf(area: string, thrown: unknown, hint: string | null): Finding {
  if (thrown instanceof Fault) return problem(area, thrown.message, hint);
  throw thrown;
}

async function checkConfig(context: Context): Promise<{ config: Pick<Config, "agents">; findings: Finding[] }> {
  try {
    const config = await context.config();
    ownSettings({ ...context, config });
    const { path, text } = context.configText();
    const own = counted(Object.keys(config.agents).length, "own agent");
    const says = text === undefined ? `No config file at ${path}, and none is needed` : `${path} is valid, ${own}`;
    return { config, findings: [ok("config", says)] };
  } catch (thrown) {
    return {
      config: { agents: {} },
      findings: [problemOf("config", thrown, "holdfast help config lists what may be set")],
    };
  }
}

/** Read only where it is there: the first host makes it. */
function checkToken({ state, world }: Context): Finding[] {
  try {
    if (!world.files.stats(join(state.directory, "token"))) return [];
    state.token();
    return [];
  } catch (thrown) {
    const finding = problemOf("token", orPlain(thrown), null);
    // That it is too open is said already.
    return finding.text.includes("holds no token") ? [finding] : [];
  }
}

async function checkKeepers(context: Context, checkup: Checkup): Promise<Finding[]> {
  let ports: ReturnType<typeof keptPorts>;
  try {
    ports = keptPorts(context.world.files, context.state.directory, checkup);
  } catch (thrown) {
    const { directory } = context.state;
    const says = (why: string) => `What is kept in "${directory}" cannot be looked at: ${why}`;
    return [problemOf("keepers", orFault(thrown, says), null)];
  }
  if (ports.length === 0) return [ok("keepers", "No agent is held, and nothing is left of any")];
  const judged = await Promise.all(ports.map(async (each) => judgeKeepers(each, await isHosted(context, each.port))));
  return judged.flat();
}

const TONES: Readonly<Record<Level, Tone>> = { ok: "green", warning: "yellow", problem: "red" };

function show({ printer }: Context, findings: readonly Finding[]): void {
  if (printer.format === "json") return;
  const widest = (key: "level" | "area") => Math.max(...findings.map((each) => each[key].length));
  const [level, area] = [widest("level"), widest("area")];
  for (const each of findings) {
    const hint = each.hint === null ? "" : printer.paint.dim(`; ${each.hint}`);
    const head = printer.paint[TONES[each.level]](each.level.padEnd(level));
    printer.line(`${head}  ${each.area.padEnd(area)}  ${printer.safe(each.text)}${hint}`);
  }
  printer.note(summaryOf(findings));
}

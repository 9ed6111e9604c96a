// bun run chaos: the real binary under realistic load, random faults, and what must hold, checked from outside.
import { abandonDisks } from "./disk.ts";
import { FAULTS } from "./faults/table.ts";
import { HELP, readOptions } from "./options.ts";
import { summaryOf, tableOf } from "./report.ts";
import { playRound, type RoundResult } from "./round.ts";
import { shrink } from "./shrink.ts";
import { abandonYards, BINARY } from "./yard.ts";

const INTERRUPTED = 130;

async function main(words: readonly string[]): Promise<number> {
  const options = readOptions(words, FAULTS);
  if (options === "help") {
    console.log(HELP(FAULTS));
    return 0;
  }
  const say = (line: string): void => (options.json ? console.error(line) : console.log(line));
  const over = new AbortController();
  const interrupt = (): void => {
    if (over.signal.aborted) {
      abandonYards();
      abandonDisks();
      process.exit(INTERRUPTED);
    }
    say("chaos: ending in good order; once more ends it now");
    over.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, interrupt);
  // A mistake of ours must not leave a yard behind.
  const broken: unknown[] = [];
  const fail = (thrown: unknown): void => {
    broken.push(thrown);
    console.error(thrown);
    over.abort();
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const rounds: RoundResult[] = [];
  const tell = ({ stories, evidence }: RoundResult): void => {
    for (const story of stories) say(story);
    if (evidence) say(`evidence: ${evidence}`);
  };
  for (const { seed, seconds } of options.rounds) {
    if (over.signal.aborted) break;
    say(`chaos: seed ${seed}, ${seconds} s, ${BINARY}`);
    const { faults, load, diskMb } = options;
    const disk = diskMb === undefined ? {} : { diskMb };
    const played = { seed, seconds, faults, load, signal: over.signal, say, ...disk };
    const round = await playRound(played);
    rounds.push(round);
    tell(round);
    if (round.violations.length > 0 && options.shrinks)
      for (const shorter of await shrink(round, played, playRound)) tell(shorter);
  }
  const summary = summaryOf(rounds);
  if (options.json)
    console.log(JSON.stringify({ ...summary, violations: rounds.flatMap((round) => round.violations) }));
  else console.log(tableOf(summary));
  const failed = rounds.filter(({ violations }) => violations.length > 0);
  say(`chaos: seed ${rounds.map(({ seed }) => seed).join(", ")}`);
  say(` ${rounds.length - failed.length} pass\n ${failed.length} fail`);
  if (failed.length + broken.length > 0) return 1;
  return over.signal.aborted ? INTERRUPTED : 0;
}

process.exitCode = await main(process.argv.slice(2));

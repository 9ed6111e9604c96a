// Which benchmark? `bun test/bench/run.ts NAME [--quick]`; a missed goal is told, it is no failure.
import * as agents from "./agents.ts";
import { bridge, FULL, QUICK } from "./bridge.ts";
import * as browser from "./browser.ts";
import * as keeper from "./keeper.ts";
import { type Row, table } from "./support/table.ts";
import { createYard, type Yard } from "./support/yard.ts";

interface Benchmark {
  summary: string;
  run(yard: Yard, binary: string, quick: boolean, progress: (part: string) => void): Promise<Row[]>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  bridge: {
    summary: "Relaying against a bare relay, takeover, memory and start-up",
    run: (yard, binary, quick, progress) => bridge(yard, binary, quick ? QUICK : FULL, progress),
  },
  agents: {
    summary: "A warm prompt, ten at once, updates from agent to client, memory of idle sessions",
    run: (yard, binary, quick, progress) => agents.agents(yard, binary, quick ? agents.QUICK : agents.FULL, progress),
  },
  browser: {
    summary: "Going on after a killed or frozen browser, past bad endpoints, and step by step",
    run: (yard, binary, quick, progress) =>
      browser.browser(yard, binary, quick ? browser.QUICK : browser.FULL, progress),
  },
  keeper: {
    summary: "The gap when the host is killed, a keeper's file against a pipe, memory, a long history",
    run: (yard, binary, quick, progress) => keeper.keeper(yard, binary, quick ? keeper.QUICK : keeper.FULL, progress),
  },
};

function usage(): number {
  const names = Object.entries(BENCHMARKS).map(([name, { summary }]) => `  ${name}  ${summary}`);
  console.error(["Usage: bun run bench NAME [--quick]", "", "Benchmarks:", ...names].join("\n"));
  return 2;
}

async function main(words: readonly string[]): Promise<number> {
  const names = words.filter((word) => word !== "--quick");
  const [name = ""] = names;
  const benchmark = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
  if (!benchmark || names.length > 1) return usage();
  const { BINARY } = await import("../support/binary.ts");
  const yard = createYard();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => void yard.end().then(() => process.exit(130)));
  }
  try {
    const since = performance.now();
    const progress = (part: string) => console.error(`${((performance.now() - since) / 1_000).toFixed(0)} s: ${part}`);
    const rows = await benchmark.run(yard, BINARY, words.includes("--quick"), progress);
    console.log(table(rows));
    return 0;
  } catch (thrown) {
    // What was cut short fails as it may; Ctrl-C is all there is to say.
    if (yard.over.aborted) return 130;
    throw thrown;
  } finally {
    await yard.end();
  }
}

process.exitCode = await main(process.argv.slice(2));

// Which commands end well although hosts die while they run? Those that only look, or may be asked twice.
import { expect, test } from "bun:test";
import { prompt, withAgents } from "./agent-stage.ts";
import { createHostKiller, tellingSeed } from "./host-killer.ts";
import { staged } from "./support.ts";

const KILLS = 25;

test(
  "[CM10] [CM3] while hosts are killed one after the other, sessions, status, read, keep and cancel never end with 5",
  withAgents(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).code).toBe(0);
    const verbs = [["sessions"], ["status"], ["read", "work"], ["keep", "work", "--for", "1h"], ["cancel", "work"]];
    const killer = createHostKiller(stage, { pauseMs: [0, 60] });
    const ends: { line: string; code: number | null; stderr: string }[] = [];
    await tellingSeed(killer, async () => {
      const stop = killer.start();
      const ask = async (words: readonly string[]): Promise<void> => {
        while (killer.killed.length < KILLS) {
          const { code, stderr } = await stage.run([...words, "--timeout", "60s"]);
          ends.push({ line: words.join(" "), code, stderr });
        }
      };
      await Promise.all(verbs.map(ask));
      await stop();
      // Whoever starts no host may find none.
      const isFine = ({ line, code }: (typeof ends)[number]) => code === 0 || (line === "status" && code === 4);
      expect(ends.filter((end) => !isFine(end))).toEqual([]);
    });
    await stage.run(["keep", "work", "--off"]);
  }),
  120_000,
);

test(
  "[CM10] [CM3] attach, prompt, exec and sessions end with 6 when the port's holder does not answer within --timeout",
  staged(async (stage) => {
    const host = await stage.serve();
    host.kill("SIGSTOP");
    const lines = [["attach", "work"], ["prompt", "demo", "hi"], ["exec", "1"], ["sessions"], ["status"], ["stop"]];
    const ended = await Promise.all(lines.map((words) => stage.run([...words, "--timeout", "1500ms"])));
    host.kill("SIGCONT");
    expect(ended.map(({ code, stderr }, at) => [lines[at]?.[0], code, code === 6 ? "" : stderr])).toEqual(
      lines.map(([name]) => [name, 6, ""]),
    );
    // What they were still waiting for does not keep them.
    for (const { ms } of ended) expect(ms).toBeLessThan(20_000);
  }),
  60_000,
);

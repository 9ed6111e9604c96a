// Does who follows a log miss a line, or see one twice, when hosts die?
import { expect, test } from "bun:test";
import type { Proc } from "./process.ts";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const KILLS = 5;
const NUMBERED = "let n = 0; setInterval(() => { for (let i = 0; i < 3; i++) console.log('line ' + ++n); }, 5); 0";

const numbersOf = ({ events }: Proc): number[] =>
  events.filter(({ type }) => type === "log").map(({ data }) => Number(String(data["body"]).replace("line ", "")));

test(
  "[RC3] logs --follow across five kills of the host marks each gap, fills it, and has every line exactly once",
  staged(async (stage) => {
    const line = [await stage.serve()];
    // Enough of them before those who follow: who follows stands in line, too, and would host when it is first.
    for (let count = 0; count < KILLS + 3; count++) line.push(await stage.standby());
    const [host] = line as [Proc];
    await stage.plugin("one");
    const follow = stage.spawn(["logs", "--follow", "--json"]);
    await host.event("client-connected", ({ pid }) => pid === follow.pid);
    const text = stage.spawn(["logs", "--follow"]);
    await host.event("client-connected", ({ pid }) => pid === text.pid);
    expect((await stage.run(["exec", NUMBERED])).code).toBe(0);
    await follow.event("log");
    await text.outSays(/line \d+/);
    for (let kill = 0; kill < KILLS; kill++) {
      const since = follow.events.length;
      const pid = await until("a host", stage.hostPid);
      const victim = line.find((proc) => proc.pid === pid);
      expect(victim).toBeDefined();
      await victim?.end("SIGKILL");
      const gap = await follow.event("gap", () => true, { since });
      expect(gap.data).toEqual({ filled: expect.any(Number), complete: true });
      await follow.event("log", () => true, { since: follow.events.length });
      await text.errSays(new RegExp(`(?:-- connected again[\\s\\S]*){${kill + 1}}`));
    }
    const last = numbersOf(follow).at(-1) ?? 0;
    await until("lines after the last gap", () => (numbersOf(follow).at(-1) ?? 0) > last + 20);
    await until(
      "the same in text",
      () => text.stdout.includes(`line ${last} `) || text.stdout.includes(`line ${last}\n`),
    );

    const numbers = numbersOf(follow);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
    expect(follow.events.filter(({ type }) => type === "gap")).toHaveLength(KILLS);
    const lines = text.stdout.split("\n").slice(0, -1);
    const shown = lines.map((line) => Number(/ line (\d+)$/.exec(line)?.[1]));
    expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => index + 1));
    expect(text.stderr.match(/-- connected again: \d+ entries filled in from the plugin's buffer --/g)).toHaveLength(
      KILLS,
    );
  }),
  120_000,
);

test(
  "[RC3] what the plugin's buffer no longer holds is told as lost",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    await stage.plugin("one");
    const follow = stage.spawn(["logs", "--follow", "--json"]);
    await host.event("client-connected", ({ pid }) => pid === follow.pid);
    await stage.run(["exec", "console.log('line 1'); 0"]);
    await follow.event("log");
    // It stands still while far more is logged than the buffer holds.
    follow.kill("SIGSTOP");
    await host.end("SIGKILL");
    await standby.event("plugin-connected");
    await stage.run(["exec", "for (let n = 2; n <= 1500; n++) console.log('line ' + n); 0"]);
    follow.kill("SIGCONT");
    const gap = await follow.event("gap");
    expect(gap.data).toEqual({ filled: 1000, complete: false });
    await follow.event("log", ({ body }) => body === "line 1500");
    expect(numbersOf(follow)).toEqual([1, ...Array.from({ length: 1000 }, (_, index) => 501 + index)]);
  }),
  60_000,
);

// Does a command that waits say for what?
import { expect, test } from "bun:test";
import { prompt, withAgents } from "./agent-stage.ts";

test(
  "[CM4] a command that waits for a session or an instance names it, and in the end says if it is an agent's",
  withAgents(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    const where = "holdfast sessions lists those that are connected";
    const waits: [words: string[], says: string][] = [
      [["exec", "1", "-s", "nope"], `Waiting for session "nope"; ${where}`],
      [["state", "--instance", "two"], `Waiting for instance "two"; ${where}`],
      [["logs", "--follow", "--session", "nope"], `Waiting for session "nope"; ${where}`],
    ];
    const waiting = waits.map(([words, says]) => ({ proc: stage.spawn(words), says }));
    for (const { proc, says } of waiting) {
      const [line] = await proc.errSays(/^Waiting for .*\n/);
      expect(line).toStartWith(says);
      await proc.end("SIGINT");
    }
    await stage.run(prompt("work", "hello"));
    const refused = async (session: string) => {
      const { code, stderr } = await stage.run(["exec", "1", "--session", session, "--timeout", "1s"]);
      return { code, says: stderr.trimEnd().split("\n").at(-1) };
    };
    expect(await refused("nope")).toEqual({
      code: 3,
      says: 'error: There is no session "nope"; holdfast sessions lists them',
    });
    expect(await refused("work")).toEqual({
      code: 3,
      says: 'error: There is no plugin session "work", but an agent session; holdfast prompt and attach take that',
    });
  }),
  60_000,
);

// What does a person see of an agent, and what a pipe? Text as it streams, one line per tool call, questions; or the answer alone.
import { expect, test } from "bun:test";
import { prompt, withAgents } from "./agent-stage.ts";
import { until } from "./until.ts";

const plain = (output: string): string => output.replaceAll(/\x1b\[[\d;]*m|\r\x1b\[K|\r/g, "");
const QUESTION = /Write to notes\.txt\?.*\[y\] Allow once.*\[n\] Reject/;

test(
  "[CM1] [SE4] in a pipe a prompt prints the answer alone on stdout, and asks nobody: what needs a permission is denied",
  withAgents(async (stage) => {
    const tool = await stage.run(["prompt", "demo", "tool"]);
    expect({ code: tool.code, stdout: tool.stdout }).toEqual({ code: 0, stdout: "The tool is done\n" });
    expect(tool.stderr).toBe("[done] Read notes.txt\n");

    const piped = await stage.shell("holdfast prompt demo 'stream 3 10' | sort -r");
    expect(piped.stdout).toBe("chunk 3\nchunk 2\nchunk 1\n");
    const typed = await stage.run(["prompt", "demo"], { stdin: "from stdin" });
    expect(typed.stdout).toBe("from stdin (turn 1)\n");
    const dashed = await stage.run(["prompt", "demo", "-"], { stdin: "two\nlines" });
    expect(dashed.stdout).toBe("two\nlines (turn 1)\n");

    const ask = async (...flags: string[]) => (await stage.run(["prompt", "demo", "ask", ...flags])).stdout;
    expect(await ask()).toBe("denied (reject_once)\n");
    expect(await ask("--permissions", "deny")).toBe("denied (reject_once)\n");
    expect(await ask("--permissions", "allow-reads")).toBe("denied (reject_once)\n");
    expect(await ask("--permissions", "allow")).toBe("allowed (allow_once)\n");
    const quiet = await stage.shell("holdfast prompt demo 'flood 50000' | head -1");
    expect({ code: quiet.code, stdout: quiet.stdout, stderr: quiet.stderr }).toEqual({
      code: 0,
      stdout: "1\n",
      stderr: "",
    });
  }),
  60_000,
);

test(
  "[CM1] on a terminal the text comes as it streams, and each tool call is one line",
  withAgents(async (stage) => {
    const streaming = stage.onTerminal(prompt("work", "stream 100000 50"));
    await streaming.says(/chunk 1\r\n/);
    await streaming.says(/chunk 3\r\n/);
    expect((await stage.agentSession("work"))?.turn).toBe("running");
    await stage.run(["cancel", "work"]);
    expect(await streaming.exited).toEqual({ code: 1, signal: null });
    await streaming.says(/error:.* The turn was cancelled by another client/);

    const tool = stage.onTerminal(prompt("work", "tool"));
    expect(await tool.exited).toEqual({ code: 0, signal: null });
    await tool.says(/The tool is done\r\n/);
    expect(plain(tool.output)).toBe("[done] Read notes.txt\nThe tool is done\n");

    const long = stage.onTerminal(prompt("work", "shell sleep 1.4; echo slept"));
    await long.says(/Run sleep 1\.4; echo slept \(1 s\)/);
    expect(await long.exited).toEqual({ code: 0, signal: null });
    await long.says(/ \(1 s\)\r\x1b\[K(\x1b\[\d+m)?\[done\] Run sleep 1\.4; echo slept(\x1b\[\d+m)?\r\nslept\r\n$/);
    const denied = await stage.run(["prompt", "demo", "ask"]);
    expect(denied.stderr).toBe(
      "[denied] Write to notes.txt: nobody was asked (--permissions deny)\n[failed] Write to notes.txt\n",
    );

    const evil = stage.onTerminal(prompt("work", "shell printf 'a\\033[2Jb\\007c'"));
    expect(await evil.exited).toEqual({ code: 0, signal: null });
    await evil.says(/abc/);
    expect(evil.output).not.toContain("\x1b[2J");
    expect(evil.output).not.toContain("\x07");
  }),
  60_000,
);

test(
  "[SE4] a permission request is shown on two terminals, the first answer wins, and the other is told",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const watching = stage.onTerminal(["attach", "work"]);
    await watching.says(/hello \(turn 1\)/);
    const asking = stage.onTerminal(prompt("work", "ask"));
    await asking.says(QUESTION);
    await watching.says(QUESTION);
    await watching.says(/> ask/);
    expect((await stage.agentSession("work"))?.turn).toBe("waiting");

    watching.type("what?\n");
    await until("the question again", () => plain(watching.output).match(/Allow once/g)?.length === 2);
    watching.type("y\n");
    await asking.says(/Answered/);
    await asking.says(/allowed \(allow_once\)/);
    expect(await asking.exited).toEqual({ code: 0, signal: null });
    await watching.says(/allowed \(allow_once\)/);
    expect(plain(watching.output)).not.toContain("answered already");

    const second = stage.onTerminal(prompt("work", "ask"));
    await second.says(QUESTION);
    await until("the question here too", () => plain(watching.output).match(/Allow once/g)?.length === 3);
    second.type("n\n");
    await second.says(/denied \(reject_once\)/);
    expect(await second.exited).toEqual({ code: 0, signal: null });
    await watching.says(/denied \(reject_once\)/);
    expect(plain(watching.output)).toContain("Answered");
    watching.type("\x03");
    expect((await watching.exited).code).toBe(130);
  }),
  60_000,
);

test(
  "[SE4] [SE6] a question waits for somebody to attach; Ctrl-C at the terminal cancels it with the turn and exits 130",
  withAgents(async (stage) => {
    const name = "work";
    const detached = await stage.run(prompt(name, "ask", "--detach", "--permissions", "ask"));
    expect(detached.stdout).toBe("work\n");
    await until("the question", async () => (await stage.agentSession(name))?.turn === "waiting");
    const later = stage.onTerminal(["attach", name]);
    await later.says(QUESTION);
    later.type("a\n");
    await later.says(/allowed \(allow_always\)/);

    const mine = stage.onTerminal(prompt(name, "ask"));
    await mine.says(QUESTION);
    mine.type("\x03");
    expect(await mine.exited).toEqual({ code: 130, signal: null });
    await until("the end of its turn", async () => (await stage.agentSession(name))?.turn === "idle");

    const streaming = stage.onTerminal(prompt(name, "stream 100000 50"));
    await streaming.says(/chunk 2\r\n/);
    streaming.type("\x03");
    expect(await streaming.exited).toEqual({ code: 130, signal: null });
    expect(plain(streaming.output)).not.toContain("error");
    expect((await stage.run(prompt(name, "hello"))).stdout).toBe("hello (turn 4)\n");
  }),
  60_000,
);

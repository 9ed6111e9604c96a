// With which code does a prompt end? One for each way a turn can end, and for each reason it never began.
import { expect, test } from "bun:test";
import { inJson, prompt, withAgents } from "./agent-stage.ts";
import { handlesSignals } from "./leftovers.ts";
import { until } from "./until.ts";

test(
  "[CM3] a prompt exits 0 when the turn is done, 1 on a refusal, 3 without such an agent, 5 when it was lost, 7 without a login, 9 at a limit",
  withAgents(async (stage) => {
    stage.installOddAgent();
    const run = async (words: readonly string[], code: number, says: RegExp): Promise<void> => {
      const ran = await stage.run(words);
      expect({ words, code: ran.code, says: says.test(ran.stderr) || ran.stderr }).toEqual({ words, code, says: true });
    };
    await run(["prompt", "demo", "hello"], 0, /^$/);
    await run(["prompt", "codex", "end_turn"], 0, /^$/);
    await run(["prompt", "codex", "refusal"], 1, /refus/i);
    await run(["prompt", "nobody", "hello"], 3, /There is no agent "nobody"; there are: .*demo/);
    await run(["prompt", "demo", "die 3"], 5, /Demo exited with code 3; the outcome is unknown/);
    await run(["prompt", "codex", "login"], 7, /Codex needs a login[\s\S]*holdfast login codex/);
    await run(["prompt", "codex", "max_tokens"], 9, /max_tokens/);
    await run(["prompt", "codex", "max_turn_requests"], 9, /max_turn_requests/);
    await run(["prompt", "gemini", "hello"], 3, /Could not start Gemini\. Check that it's installed\.\n.*npm install/);
    await run(["prompt", "demo", "hello", "--permissions", "maybe"], 2, /--permissions.*"maybe"/);
    await run(["attach", "nothing"], 3, /There is no agent session "nothing"/);
    await run(["cancel", "nothing"], 3, /There is no agent session "nothing"/);
  }),
  90_000,
);

test(
  "[CM3] a turn that another client cancels exits 1 and says so",
  withAgents(async (stage) => {
    const mine = stage.spawn(inJson(...prompt("work", "stream 100000 20")));
    await mine.event("update");
    const other = await stage.run(["cancel", "work"]);
    expect({ code: other.code, stdout: other.stdout }).toEqual({ code: 0, stdout: "The turn in work was cancelled\n" });
    expect(await mine.exited).toEqual({ code: 1, signal: null });
    expect(mine.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "cancelled" } });

    const plain = stage.spawn(prompt("work", "stream 100000 20"));
    await plain.outSays(/chunk 2\n/);
    await stage.run(["cancel", "work"]);
    expect(await plain.exited).toEqual({ code: 1, signal: null });
    expect(plain.stderr).toMatch(/cancelled/);
    expect((await stage.run(["cancel", "work"])).stdout).toBe("Nothing runs in work\n");
  }),
  60_000,
);

test(
  "[CM3] [CM4] a prompt with --timeout cancels its turn and exits 6, also when the agent does not listen",
  withAgents(async (stage) => {
    // It counts from the beginning, and a busy machine takes a while to start host and agent.
    const words = prompt("work", "stream 100000 20", "--timeout", "5s");
    const willing = await stage.run(words);
    expect(willing.code).toBe(6);
    expect(willing.stdout).toStartWith("chunk 1\n");
    expect(willing.stderr).toMatch(/The turn took longer than 5000 ms/);
    expect((await stage.agentSession("work"))?.turn).toBe("idle");
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 2)\n");

    const deaf = await stage.run(prompt("deaf", "hang", "--timeout", "3s"));
    expect(deaf.code).toBe(6);
    expect(deaf.ms).toBeLessThan(30_000);
    const alone = await stage.run(["prompt", "demo", "hang", "--timeout", "3s"]);
    expect(alone.code).toBe(6);
    expect(alone.ms).toBeLessThan(20_000);
    expect((await stage.run(["close", "deaf"])).code).toBe(0);
    expect((await stage.run(["prompt", "demo", "hello"])).stdout).toBe("hello (turn 1)\n");
  }),
  90_000,
);

test(
  "[CM3] [CM5] Ctrl-C cancels the turn and exits 130, and the session and its agent live on",
  withAgents(async (stage) => {
    const mine = stage.spawn(prompt("work", "stream 100000 20"));
    await mine.outSays(/chunk 2\n/);
    const pid = await stage.agentPid();
    expect(await mine.end("SIGINT")).toEqual({ code: 130, signal: null });
    expect(await stage.agentSession("work")).toMatchObject({ turn: "idle", queued: 0, clients: 0 });
    expect(await stage.agentPid()).toBe(pid);
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 2)\n");

    const fresh = stage.spawn(["prompt", "demo", "stream 100000 20"]);
    await fresh.outSays(/chunk 2\n/);
    expect(await fresh.end("SIGTERM")).toEqual({ code: 130, signal: null });
    expect((await stage.agentSessions()).map(({ name }) => name)).toEqual(["work"]);

    const json = stage.spawn(inJson(...prompt("work", "stream 100000 20")));
    await json.event("update");
    expect(await json.end("SIGINT")).toEqual({ code: 130, signal: null });
    expect(json.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "cancelled" } });
  }),
  60_000,
);

test(
  "[CM5] a second Ctrl-C ends at once a prompt whose agent does not listen; so does the first, a little later",
  withAgents(async (stage) => {
    const hanging = stage.spawn(inJson(...prompt("work", "hang")));
    await hanging.event("turn-started");
    await until("its signal handlers", () => handlesSignals(hanging.pid));
    hanging.kill("SIGINT");
    hanging.kill("SIGINT");
    expect((await hanging.exited).code).toBe(130);
    await stage.run(["close", "work"]);

    const patient = stage.spawn(inJson(...prompt("other", "hang")));
    await patient.event("turn-started");
    expect((await patient.end("SIGINT")).code).toBe(130);
    expect((await stage.run(["prompt", "demo", "hello"])).stdout).toBe("hello (turn 1)\n");
  }),
  60_000,
);

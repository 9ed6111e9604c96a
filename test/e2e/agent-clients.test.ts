// What do several clients of one session see? The same events, each once, whoever leaves, comes back or asks.
import { expect, test } from "bun:test";
import { chunks, inJson, merged, numbersOf, prompt, type SessionEvent, textOf, withAgents } from "./agent-stage.ts";
import { until } from "./until.ts";

const LEAVES = 5;

const contiguous = (events: readonly SessionEvent[]): boolean =>
  numbersOf(events).every((number, at, all) => number === (all[0] ?? 0) + at);
const typesOf = (events: readonly SessionEvent[], ...types: string[]) =>
  events.filter(({ type }) => types.includes(type)).map(({ type, data }) => [type, data["promptId"]]);

test(
  "[SE3] [SE5] a client that is killed in mid-turn and comes back with its cursor saw the same events as the one that stayed, each once",
  withAgents(async (stage) => {
    // As long as the others need, however slow the machine is.
    const stayed = stage.spawn(inJson(...prompt("work", "stream 100000 25")));
    await stayed.event("turn-started");
    const seen: SessionEvent[] = [];
    for (let round = 0; round < LEAVES; round++) {
      const client = stage.attach("work", "--after", String(seen.at(-1)?.seq ?? 0));
      await until("five more events", () => client.events.length >= 5);
      await client.end("SIGKILL");
      seen.push(...client.events);
    }
    expect(stayed.running).toBe(true);
    const last = stage.attach("work", "--after", String(seen.at(-1)?.seq ?? 0));
    await last.event("update");
    await stage.run(["cancel", "work"]);
    await stayed.exited;
    expect(stayed.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "cancelled" } });
    const end = stayed.events.at(-1)?.seq ?? 0;
    await last.event("turn-ended");
    seen.push(...last.events);

    expect(seen[0]?.seq).toBe(1);
    expect(contiguous(seen)).toBe(true);
    const first = stayed.events[0]?.seq ?? 0;
    const shared = seen.filter(({ seq }) => seq >= first && seq <= end);
    const said = textOf(shared);
    expect(said).toBe(chunks(said.split("\n").length - 1));
    expect(merged(shared)).toEqual(merged(stayed.events));
  }),
  90_000,
);

test(
  "[SE2] [SE4] prompts of two clients run one after the other, each is shown to the other, and in a pipe each prints its own answer",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const watcher = stage.attach("work");
    await watcher.event("turn-ended");
    const first = stage.spawn(inJson(...prompt("work", "stream 80 25")));
    await first.event("turn-started");
    const second = stage.spawn(inJson(...prompt("work", "second")));
    const third = stage.spawn(prompt("work", "third"));
    await until("both in the queue", async () => (await stage.agentSession("work"))?.queued === 2);
    for (const each of [first, second, third]) expect(await each.exited).toEqual({ code: 0, signal: null });
    expect(third.stdout).toMatch(/^third \(turn [34]\)\n$/);

    const { seq = 0 } = third.events.at(-1) ?? second.events.at(-1) ?? {};
    await until("the last turn's end", () => watcher.events.filter(({ type }) => type === "turn-ended").length === 4);
    const turns = typesOf(watcher.events, "turn-started", "turn-ended");
    const ids = watcher.events.filter(({ type }) => type === "prompt").map(({ data }) => data["promptId"]);
    expect(ids).toHaveLength(4);
    expect(turns).toEqual(
      ids.flatMap((id) => [
        ["turn-started", id],
        ["turn-ended", id],
      ]),
    );
    const texts = watcher.events.filter(({ type }) => type === "prompt").map(({ data }) => data["text"]);
    expect(texts.toSorted()).toEqual(["hello", "second", "stream 80 25", "third"]);
    expect(first.events.some(({ data }) => data["text"] === "second")).toBe(true);
    expect(contiguous(watcher.events)).toBe(true);
    expect(seq).toBeLessThanOrEqual(watcher.events.at(-1)?.seq ?? 0);
  }),
  60_000,
);

test(
  "[SE2] Ctrl-C on a prompt that waits takes back that one, and leaves the turn of the other client alone",
  withAgents(async (stage) => {
    const running = stage.spawn(inJson(...prompt("work", "stream 40 25")));
    await running.event("update");
    const waiting = stage.spawn(inJson(...prompt("work", "never")));
    await waiting.event("prompt", ({ text }) => text === "never");
    expect(await waiting.end("SIGINT")).toEqual({ code: 130, signal: null });
    expect(waiting.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "cancelled" } });
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(running.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "end_turn" } });
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 2)\n");
  }),
  60_000,
);

test(
  "[SE1] [SE6] close ends the turn that runs and those that wait; who stayed attached sees the next turn too",
  withAgents(async (stage) => {
    const running = stage.spawn(inJson(...prompt("work", "stream 100000 20")));
    await running.event("update");
    const waiting = stage.spawn(inJson(...prompt("work", "never")));
    await waiting.event("prompt", ({ text }) => text === "never");
    const watcher = stage.attach("work");
    await watcher.event("update");
    expect((await stage.run(["close", "work"])).stdout).toBe("Closed work\n");
    for (const each of [running, waiting]) {
      expect(await each.exited).toEqual({ code: 1, signal: null });
      expect(each.stderr).toContain("The turn was cancelled by another client");
    }
    await watcher.event("session-closed");
    expect(await stage.agentSession("work")).toBeUndefined();

    const since = watcher.events.length;
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 2)\n");
    await watcher.event("turn-ended", ({ stopReason }) => stopReason === "end_turn", { since });
    expect(textOf(watcher.events.slice(since))).toBe("again (turn 2)\n");
    expect(contiguous(watcher.events)).toBe(true);
  }),
  60_000,
);

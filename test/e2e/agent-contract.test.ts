// Does the binary keep what scripts rely on? The shapes of events and sessions, as the contract names them.
import { expect, test } from "bun:test";
import { inJson, merged, numbersOf, prompt, type SessionEvent, textOf, withAgents } from "./agent-stage.ts";
import { until } from "./until.ts";

const CHUNKS = Array.from({ length: 12 }, (_, at) => `chunk ${at + 1}\n`).join("");

const eventsOf = (stdout: string): SessionEvent[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test(
  "[CM1] [SE3] prompt --format json prints the session's events, one per line, and the last is turn-ended with its stopReason",
  withAgents(async (stage) => {
    const ran = await stage.run(inJson("prompt", "demo", "stream 12 20"));
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: "" });
    const events = eventsOf(ran.stdout);
    for (const event of events) {
      const { from, ...rest } = event;
      expect(Object.keys(rest)).toEqual(["seq", "at", "type", "data"]);
      expect(new Date(event.at).toISOString()).toBe(event.at);
      if (from !== undefined) expect(from).toBeLessThan(event.seq);
    }
    const numbers = numbersOf(events);
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
    expect(textOf(events)).toBe(CHUNKS);
    expect(events.filter(({ type }) => type === "turn-ended")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "end_turn" } });
  }),
  60_000,
);

test(
  "[CM1] [SE3] attach NAME --after N --format json prints the same events from N+1 on",
  withAgents(async (stage) => {
    const ran = await stage.run(inJson(...prompt("work", "stream 12 20")));
    const events = eventsOf(ran.stdout);
    const isLast = ({ promptId }: Record<string, unknown>) => promptId === events.at(-1)?.data["promptId"];
    for (const at of [0, 2, events.length - 2]) {
      const after = events[at]?.seq ?? 0;
      const client = stage.attach("work", "--after", String(after));
      await client.event("turn-ended", isLast);
      const seen = client.events.filter(({ seq }) => seq <= (events.at(-1)?.seq ?? 0)) as SessionEvent[];
      expect(numbersOf(seen)[0]).toBe(after + 1);
      expect(merged(seen)).toEqual(merged(events.slice(at + 1)));
      expect((await client.end("SIGINT")).code).toBe(130);
    }
    const fromTheBeginning = stage.attach("work");
    await fromTheBeginning.event("turn-ended", isLast);
    expect(fromTheBeginning.events[0]).toMatchObject({ seq: 1, type: "session-created" });
    await fromTheBeginning.end("SIGINT");
  }),
  60_000,
);

test(
  "[ID12] [SE1] sessions --format json has for each agent session exactly the keys of the contract",
  withAgents(async (stage) => {
    await stage.run(prompt("quiet", "hello"));
    const running = stage.spawn(inJson(...prompt("busy", "stream 100000 20", "--cwd", stage.directory)));
    await running.event("update");
    const waiting = stage.spawn(inJson(...prompt("asking", "ask", "--permissions", "ask")));
    await waiting.event("permission-requested");
    const queued = stage.spawn(inJson(...prompt("asking", "hello")));
    await queued.event("prompt", ({ text }) => text === "hello");

    const listed = await stage.agentSessions();
    expect(listed.map(({ name, turn, queued, clients }) => ({ name, turn, queued, clients }))).toEqual([
      { name: "quiet", turn: "idle", queued: 0, clients: 0 },
      { name: "busy", turn: "running", queued: 0, clients: 1 },
      { name: "asking", turn: "waiting", queued: 1, clients: 2 },
    ]);
    for (const entry of listed) {
      const keys = ["kind", "name", "agent", "cwd", "turn", "queued", "clients", "lastSeq", "idle"];
      expect(Object.keys(entry)).toEqual(keys);
      expect(Object.keys(entry.idle)).toEqual(["verdict", "reason", "dueInMs"]);
      expect(entry).toMatchObject({ kind: "agent", agent: "demo", lastSeq: expect.any(Number) });
      expect(entry.cwd).toBe(entry.name === "busy" ? stage.directory : "/");
    }
    const [quiet, busy] = listed;
    expect(quiet?.idle.verdict).toBe("stops");
    expect(quiet?.idle.dueInMs).toBeWithin(1, 300_001);
    expect(Number.isInteger(quiet?.idle.dueInMs)).toBe(true);
    expect(busy?.idle).toMatchObject({ verdict: "kept", dueInMs: null });
  }),
  60_000,
);

test(
  "[SE1] prompt without --session makes a fresh session and closes it at the end; with --detach its name is printed and it stays",
  withAgents(async (stage) => {
    expect((await stage.run(["prompt", "demo", "hello"])).stdout).toBe("hello (turn 1)\n");
    expect((await stage.run(["prompt", "demo", "hello"])).stdout).toBe("hello (turn 1)\n");
    expect(await stage.agentSessions()).toEqual([]);

    const detached = await stage.run(["prompt", "demo", "stream 100000 20", "--detach"]);
    expect({ code: detached.code, stderr: detached.stderr }).toEqual({ code: 0, stderr: "" });
    const name = detached.stdout.trimEnd();
    expect(detached.stdout).toBe(`${name}\n`);
    const entry = await until("its turn", async () => (await stage.agentSession(name))?.turn === "running");
    expect(entry).toBe(true);
    const client = stage.attach(name);
    await client.event("update");
    expect((await stage.run(["cancel", name])).code).toBe(0);
    await client.event("turn-ended", ({ stopReason }) => stopReason === "cancelled");

    const named = await stage.run(inJson(...prompt("mine", "hello", "--detach")));
    expect(JSON.parse(named.stdout)).toEqual({ session: "mine", promptId: expect.any(String) });
  }),
  60_000,
);

test(
  "[SE1] a host that ran many prompts holds none of their journals open",
  withAgents(async (stage) => {
    await stage.serve();
    await stage.run(["prompt", "demo", "hello"]);
    const pid = (await stage.hostPid()) ?? 0;
    const open = () => [...new Bun.Glob("*").scanSync({ cwd: `/proc/${pid}/fd`, onlyFiles: false })].length;
    const before = open();
    for (let round = 0; round < 8; round++) expect((await stage.run(["prompt", "demo", "hello"])).code).toBe(0);
    await until(
      () => `no more than ${before} open files, there are ${open()}`,
      () => open() <= before,
    );
  }),
  60_000,
);

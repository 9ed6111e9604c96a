// What grows with use? Nothing in memory that nobody needs, no list without an end, no file of what was removed.
import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { createConversationStore, demoStore } from "../../src/agents/demo-agent/store.ts";
import type { ShelvedSession } from "../../src/protocol/agents.ts";
import { createMachine } from "../support/fake-world.ts";
import { openKept } from "./kept-world.ts";
import { END_TURN, openService } from "./service-world.ts";

const ANSWERS = { replies: { "session/prompt": () => END_TURN } };

describe("memory", () => {
  /** What waits for ever is a promise with a reaction; what is held by mistake hangs on a closure. */
  const HELD = ["Promise", "SlimPromiseReaction", "PromiseReaction", "Function", "Map", "Set"];
  const held = (): number => {
    Bun.gc(true);
    Bun.gc(true);
    const { objectTypeCounts } = heapStats();
    return HELD.reduce((sum, type) => sum + (objectTypeCounts[type] ?? 0), 0);
  };

  for (const [what, more] of [
    ["of one session", { session: "work" }],
    ["each with a session of its own", { closes: true }],
  ] as const) {
    test(`[KP14] a thousand prompts, ${what}, leave a host as it was`, () => {
      const world = openKept(ANSWERS);
      const ask = (count: number): void => {
        for (let asked = 0; asked < count; asked++) {
          const client = world.client(`client ${asked}`);
          client.prompt("hi", { attach: true, ...more });
          world.machine.until(() => client.of("turn-ended").length === 1);
          client.leave();
          world.machine.advance(5);
        }
      };
      ask(200);
      const before = held();
      ask(1_000);
      expect(held() - before).toBeLessThan(500);
    });
  }
});

describe("closed sessions", () => {
  const open = () => {
    const machine = createMachine();
    let looks = 0;
    const { journal, list } = machine.files;
    const files = Object.assign(machine.files, {
      journal(path: string) {
        looks++;
        return journal(path);
      },
      list(path: string) {
        looks += 10_000;
        return list(path);
      },
    });
    const world = openService({ ...ANSWERS, machine });
    const client = world.client("ann");
    const make = (count: number): void => {
      for (let made = 0; made < count; made++) {
        const { session } = client.prompt(`prompt ${made}`, { attach: true, closes: true });
        world.machine.until(() => world.service.infos().every(({ turn }) => turn === "idle"));
        client.leave();
        world.machine.advance(1);
        if (world.service.infos().some(({ name }) => name === session)) throw new Error("It is still open");
      }
    };
    const listed = (limit?: number) => {
      looks = 0;
      const shelf = client.done<ShelvedSession[]>({ verb: "shelf", ...(limit === undefined ? {} : { limit }) });
      return { titles: shelf.map(({ title }) => title), looks };
    };
    return { files, make, listed, world };
  };

  test("[SE3] the newest are listed first, so many as are wanted, and no more of them are looked at", () => {
    const { make, listed } = open();
    make(30);
    expect(listed(3)).toEqual({ titles: ["prompt 29", "prompt 28", "prompt 27"], looks: 3 });
    expect(listed(100).titles).toHaveLength(30);
    expect(listed().titles).toHaveLength(30);
  });

  test("[SE3] also by the next host, and without those that are in use again or were removed", () => {
    const { make, world, files } = open();
    make(5);
    const client = world.client("ann");
    const [, second, third] = client.done<ShelvedSession[]>({ verb: "shelf" });
    client.prompt("again", { session: String(second?.name) });
    world.machine.advance(10);
    files.remove(`/state/sessions/${third?.name}.ndjson`);
    const next = world.nextHost();
    const names = next.client("bob").done<ShelvedSession[]>({ verb: "shelf", limit: 10 });
    expect(names.map(({ title }) => title)).toEqual(["prompt 4", "prompt 1", "prompt 0"]);
  });

  test("[SE3] those that no list knows any more are found in the directory", () => {
    const { make, world, files } = open();
    make(3);
    files.remove("/state/sessions/in-use.log");
    const next = world.nextHost();
    expect(next.client("bob").done<ShelvedSession[]>({ verb: "shelf", limit: 10 })).toHaveLength(3);
  });
});

describe("the demo agent's files", () => {
  /** A conversation as the demo agent keeps it. */
  const NAME = "0c9f3f5e-7b0c-4e0a-9c57-0d6f6a1d2e3f";

  test("[SE3] [SE5] go with the journal of their session, and with no other", () => {
    const machine = createMachine();
    const { files } = machine;
    const store = createConversationStore(files, demoStore("/state"));
    store.keep(NAME, { at: "2030-01-01T00:00:00.000Z", cwd: "/work" });
    const others = "1".repeat(8) + NAME.slice(8);
    store.keep(others, { at: "2030-01-01T00:00:00.000Z", cwd: "/work" });
    const world = openService({
      machine,
      replies: { ...ANSWERS.replies, "session/new": () => ({ result: { sessionId: NAME } }) },
      deps: { forget: (agent, id) => void (agent === "claude-code" && store.remove(id)) },
    });
    const ann = world.client("ann");
    ann.prompt("hi", { session: "work" });
    world.machine.advance(10);
    ann.done({ verb: "prune", maxAgeMs: 0, maxBytes: 0 });
    expect(store.list().map(({ sessionId }) => sessionId)).toContain(NAME);
    ann.done({ verb: "close", session: "work" });
    ann.done({ verb: "prune", maxAgeMs: 0, maxBytes: 0 });
    expect(store.list().map(({ sessionId }) => sessionId)).toEqual([others]);
  });
});

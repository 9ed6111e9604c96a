// What does a takeover cost the sessions that nobody uses? Their journals stay closed until they are needed, and lose nothing.
import { describe, expect, test } from "bun:test";
import { createMachine } from "../support/fake-world.ts";
import { MINUTE, SECOND } from "./idle-world.ts";
import { END_TURN, type KeptWorld, openKept } from "./kept-world.ts";

const RESTING = 12;
const NAMES = Array.from({ length: RESTING }, (_, index) => `rests-${index + 1}`);

/** Twelve sessions whose turns are over, and one that works. */
function many() {
  const machine = createMachine();
  const { journal, readPrivate } = machine.files;
  const opened = new Set<string>();
  const folds = new Set<string>();
  const taken = (names: Set<string>): string[] => {
    const seen = [...names];
    names.clear();
    return seen;
  };
  Object.assign(machine.files, {
    readPrivate(path: string) {
      const name = /\/sessions\/([^/]+)\.fold\.json$/.exec(path)?.[1];
      if (name !== undefined) folds.add(name);
      return readPrivate(path);
    },
    journal(path: string) {
      const name = /\/sessions\/([^/]+)\.ndjson$/.exec(path)?.[1];
      if (name !== undefined) opened.add(name);
      return journal(path);
    },
  });
  const prompts = (params: Record<string, unknown>) =>
    JSON.stringify(params["prompt"]).includes("works") ? undefined : END_TURN;
  const world = openKept({ machine, replies: { "session/prompt": prompts } });
  const ann = world.client("ann");
  for (const session of NAMES) {
    ann.prompt("hi", { session, attach: true });
    machine.until(() => world.of("turn-ended", session).length === 1);
  }
  ann.leave();
  const bob = world.client("bob");
  bob.prompt("works", { session: "work", attach: true });
  machine.until(() => world.of("turn-started").length === 1);
  machine.advance(3 * SECOND);
  return {
    world,
    bob,
    /** Which journals were opened since the last look. */
    look: () => taken(opened),
    /** Which folds were read. */
    read: () => taken(folds),
  };
}

const lastSeq = (world: KeptWorld, session: string): number => world.journal(session).at(-1)?.seq ?? 0;

describe("sessions at rest", () => {
  test("[KP14] a takeover opens no journal of theirs, and knows them all", () => {
    const { world, look } = many();
    look();
    const next = world.takeover();
    expect(look().filter((name) => name !== "work")).toEqual([]);
    const infos = next.service.infos();
    expect(infos.map(({ name }) => name).toSorted()).toEqual([...NAMES, "work"].toSorted());
    expect(infos.find(({ name }) => name === "work")).toMatchObject({ turn: "running" });
    for (const name of NAMES)
      expect(infos.find((info) => info.name === name)).toMatchObject({
        turn: "idle",
        agent: "claude-code",
        title: "hi",
        lastSeq: lastSeq(next, name),
      });
    next.machine.advance(SECOND);
    expect(look().filter((name) => name !== "work")).toEqual([]);
  });

  test("[KP14] whoever works is served before anything of theirs is read, and then they come without being asked for", () => {
    const { world, bob, read } = many();
    world.process.kill();
    read();
    const next = world.nextHost();
    const back = next.client("bob");
    back.attach("work", bob.heard.at(-1)?.seq ?? 0);
    next.agent.text(String(next.agent.asked("session/prompt").at(-1)?.params?.["sessionId"]), "word");
    next.machine.until(() => back.of("update").length === 1);
    expect(read()).toEqual(["work"]);
    next.machine.advance(200);
    expect(read().toSorted()).toEqual(NAMES.toSorted());
    expect(next.service.company()).toBe(1);
  });

  test("[KP14] [ID11] their idle time goes on, and they are stopped when it is over", () => {
    const { world } = many();
    world.machine.advance(2 * MINUTE);
    const next = world.takeover();
    next.machine.advance(2 * MINUTE);
    expect(NAMES.filter((name) => next.of("idle-stopped", name).length > 0)).toEqual([]);
    next.machine.advance(MINUTE);
    expect(NAMES.filter((name) => next.of("idle-stopped", name).length === 1)).toEqual(NAMES);
  });

  test("[KP14] [SE1] one that is asked or watched goes on behind its last number", () => {
    const { world, look } = many();
    const before = lastSeq(world, "rests-3");
    const next = world.takeover();
    look();
    const ann = next.client("ann");
    ann.attach("rests-3", before - 2);
    ann.prompt("again", { session: "rests-3" });
    next.machine.until(() => ann.of("turn-ended").length === 2);
    const seqs = next.journal("rests-3").map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(ann.heard.map(({ seq }) => seq)).toEqual(seqs.slice(before - 2));
    // Open in the agent still: nothing had to be restored.
    expect([look(), next.of("restored", "rests-3").length]).toEqual([["rests-3"], 0]);
  });

  test("[KP14] what was written after the fold was kept is read", () => {
    const { world, look } = many();
    const { files } = world.machine;
    const path = "/state/sessions/rests-1.ndjson";
    const record = { seq: lastSeq(world, "rests-1") + 1, at: "2030-01-01T00:00:00.000Z", type: "pinned" };
    const whole = `${JSON.stringify({ ...record, data: { forMs: null } })}\n`;
    files.replace(path, `${files.texts.get(path)}${whole}`);
    look();
    const next = world.takeover();
    expect(look()).toEqual(["rests-1"]);
    const found = next.service.infos().find(({ name }) => name === "rests-1");
    expect(found).toMatchObject({ lastSeq: record.seq, idle: { verdict: "kept" } });
  });

  test("[KP13] a fold that cannot be read costs a look at the journal, and nobody else anything", () => {
    const { world } = many();
    world.machine.files.replace("/state/sessions/rests-2.fold.json", "{");
    const next = world.takeover();
    expect(next.service.infos()).toHaveLength(RESTING + 1);
    expect(next.service.infos().find(({ name }) => name === "rests-2")?.lastSeq).toBe(lastSeq(next, "rests-2"));
  });

  test("[KP14] an agent that exits ends the rest of its sessions too, and they come back by a prompt", () => {
    const { world } = many();
    const next = world.takeover();
    next.agent.exit(1);
    next.machine.until(() => next.of("turn-ended").length === 1);
    next.machine.advance(5 * SECOND);
    const ann = next.client("ann");
    ann.prompt("again", { session: "rests-5", attach: true });
    next.machine.until(() => ann.of("turn-ended").length === 1);
    const types = ["agent-exited", "prompt", "restored", "turn-started", "turn-ended"];
    expect(next.types("rests-5").slice(-types.length)).toEqual(types);
  });
});

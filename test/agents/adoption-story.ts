// What can befall the hosts of a machine while agents work? One seed, one story: the real service, keepers and journals,
// hosts killed, stopped and told to leave at any moment, keepers killed and stopped, disks that fill up, bad files.
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { Fault } from "../../src/protocol/fault.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { createMachine, type Machine } from "../support/fake-world.ts";
import type { FakeAgent, FakeAgentOptions } from "./fake-agent.ts";
import { END_TURN, type KeptWorld, openKept } from "./kept-world.ts";
import { ENV } from "./service-world.ts";

export type HostEnd = "killed" | "told to leave" | "killed while it leaves" | "stopped and replaced";

export interface StoryOptions {
  ends?: readonly HostEnd[];
  /** Keepers are killed and stopped. */
  keepers?: boolean;
  disk?: boolean;
  badFiles?: boolean;
}

interface Asked {
  promptId: string;
  session: string;
  text: string;
  /** A host has answered: it is on record. */
  isTaken: boolean;
}

export interface Story {
  seed: number;
  /** What happened, in order, for people. */
  told: string[];
  /** What must never be. */
  wrongs: string[];
  changes: number;
  /** The last host, for whoever looks closer. */
  world(): KeptWorld;
}

const SESSIONS = ["one", "two", "three", "four", "five"] as const;
const PROMPTS_PER_SESSION = 2;
const STORY_MS = 300;
/** Long enough that an agent whose keeper is stopped is waited for, and adopted late. */
const LONG_STORY_MS = 2_000;
const SETTLE_MS = 60_000;
const ASK_AGAIN_MS = 20;

/** An agent that says so many words to each prompt, a little time apart, whoever listens. */
function talkative(machine: Machine, dice: Dice): FakeAgentOptions {
  const turn = (params: Record<string, unknown>, agent: FakeAgent): undefined => {
    const id = agent.heard.at(-1)?.id;
    const text = (params["prompt"] as [{ text: string }])[0].text;
    const words = wordsOf(text);
    let at = 0;
    for (const word of words) {
      at += dice.between(0, 12);
      machine.plan(at, () => agent.text(String(params["sessionId"]), word));
    }
    machine.plan(at + dice.between(0, 12), () => agent.say({ jsonrpc: "2.0", id, ...END_TURN }));
  };
  return { replies: { "session/prompt": turn } };
}

const WORDS = 6;
const wordsOf = (text: string): string[] => Array.from({ length: WORDS }, (_, index) => `${text}.${index}`);

export function tellAdoption(seed: number, options: StoryOptions = {}): Story {
  const { ends = ["killed", "told to leave", "killed while it leaves"], keepers, disk, badFiles } = options;
  const dice = createDice(seed);
  const machine = createMachine({ seed });
  const told: string[] = [];
  const wrongs: string[] = [];
  const tell = (text: string): void => void told.push(`${machine.now.toFixed(2)} ${text}`);
  let world: KeptWorld = openKept({ machine, ...talkative(machine, dice) });
  let changes = 0;
  let mayLose = false;
  const storyMs = keepers ? LONG_STORY_MS : STORY_MS;
  const over = { story: false };

  // People: each prompt is asked for until a host has it, each session is watched by its cursor.
  const asked: Asked[] = SESSIONS.flatMap((session) =>
    Array.from({ length: PROMPTS_PER_SESSION }, (_, index) => {
      const text = `${session}-${index}`;
      return { promptId: `${text}-${seed}-prompt`, session, text, isTaken: false };
    }),
  );
  const seen = new Map<string, Map<number, string>>(SESSIONS.map((session) => [session, new Map()]));
  const heard = (session: string, records: readonly SessionRecord[]): void => {
    for (const { seq, from, type, data } of records as (SessionRecord & { from?: number })[]) {
      const content = JSON.stringify([type, data]);
      const known = seen.get(session);
      // Merged texts are compared where they stand, in the journal.
      if (from !== undefined && from !== seq) continue;
      const before = known?.get(seq);
      if (before !== undefined && before !== content) wrongs.push(`${session} ${seq} was ${before} and is ${content}`);
      known?.set(seq, content);
    }
  };
  const prompt = (one: Asked): void => {
    if (one.isTaken) return;
    const host = world;
    const again = (): void => void machine.plan(ASK_AGAIN_MS, () => prompt(one));
    let isOpen = true;
    // Whoever waits for a host that is gone asks the next one.
    const giveUp = machine.plan(500, () => {
      if (isOpen && !one.isTaken) prompt(one);
    });
    if (host.process.state !== "running") return again();
    const { promptId, session, text } = one;
    const fields = { agent: "claude-code", cwd: "/work", policy: "deny", detach: false, env: ENV } as const;
    const events = (name: string, records: SessionRecord[]): void => heard(name, records);
    host.process.enter(() => {
      host.service
        .asked({ clientId: "ann", events }, { verb: "prompt", promptId, session, text, ...fields })
        .then(
          () => {
            if (host.process.state !== "running") return;
            one.isTaken = true;
          },
          (thrown) => {
            if (host.process.state === "running" && !isAllowed(thrown)) wrongs.push(`${text}: ${thrown}`);
            again();
          },
        )
        .finally(() => {
          isOpen = false;
          giveUp();
        });
    });
  };
  const isAllowed = (thrown: unknown): boolean =>
    thrown instanceof Fault &&
    (thrown.code === "SESSION_DISCONNECTED" || (disk === true && thrown.code === "DISK_FULL"));
  const watch = (host: KeptWorld): void => {
    for (const session of SESSIONS) {
      const after = Math.max(0, ...(seen.get(session)?.keys() ?? []));
      const client = { clientId: `viewer-${session}`, events: heard };
      const attach = (): void => {
        if (host !== world || host.process.state !== "running") return;
        host.process.enter(() => {
          host.service
            .asked(client, { verb: "attach", session, after })
            .catch(() => machine.plan(ASK_AGAIN_MS, attach));
        });
      };
      attach();
    }
  };

  // Hosts: one at a time has the port.
  const next = (): void => {
    if (badFiles && dice.chance(0.3)) spoil();
    world = world.nextHost();
    changes++;
    tell(`host ${world.process.pid} begins`);
    watch(world);
    for (const one of asked) if (!one.isTaken) machine.plan(dice.between(0, 5), () => prompt(one));
    planEnd();
  };
  const planEnd = (): void => {
    if (over.story) return;
    // Half of them in the middle of their adoption.
    const [least, most] = dice.chance(0.5) ? [0, 3] : keepers && dice.chance(0.5) ? [250, 700] : [0, 80];
    const lives = dice.between(least, most);
    const host = world;
    machine.plan(lives, () => {
      if (!over.story && host === world) end(host, dice.pick(ends));
    });
  };
  const end = (host: KeptWorld, how: HostEnd): void => {
    tell(`host ${host.process.pid} is ${how}`);
    if (how === "killed") {
      host.process.kill();
      return void machine.plan(dice.between(0, 5), next);
    }
    if (how === "stopped and replaced") {
      host.process.freeze();
      machine.plan(dice.between(1_100, 3_000), () => host.process.thaw());
      machine.plan(10_000, () => host.process.kill());
      return void machine.plan(dice.between(0, 5), next);
    }
    const handsOver = dice.chance(0.7);
    host.process.enter(() => {
      void host.service.leave(handsOver).then(() => {
        if (host.process.state === "dead") return;
        // Now its port is free.
        machine.plan(dice.between(0, 1), () => host === world && next());
        void host.service.end().then(() => machine.plan(0, () => host.process.kill()));
      });
    });
    // However slow it is, its process is gone some time.
    machine.plan(12_000, () => host.process.kill());
    if (how !== "killed while it leaves") return;
    machine.plan(dice.between(0, 2), () => {
      host.process.kill();
      if (host === world) machine.plan(dice.between(0, 5), () => host === world && next());
    });
  };
  const spoil = (): void => {
    const [first] = machine.files.list("/state/keepers");
    const kind = dice.whole(0, 2);
    tell(`bad file ${kind}`);
    machine.files.failWrites(0);
    if (kind === 0 && first) {
      const journal = machine.files.journal(`/state/keepers/${first}/in.log`);
      for (const line of ["null", "7", '{"key":3}']) journal.append(line);
    }
    if (kind === 1) {
      machine.files.replace("/state/keepers/badbad/spec.json", JSON.stringify({ agent: "claude-code", run: "badbad" }));
      machine.files.replace("/state/keepers/badbad/state.json", JSON.stringify({ keeper: { pid: 1, startTime: "" } }));
    }
    if (kind === 2) machine.files.replace("/state/sessions/bad.ndjson", "null\n7\n{}\n");
  };
  const keeperFault = (): void => {
    if (over.story) return;
    const alive = world.keep.keepers.filter(({ state }) => state === "running");
    const victim = alive.at(-1);
    if (victim && dice.chance(0.5)) {
      tell(`keeper ${victim.pid} is stopped`);
      victim.freeze();
      machine.plan(dice.between(1, 2_000), () => victim.thaw());
    } else if (victim) {
      tell(`keeper ${victim.pid} is killed`);
      // What it had recorded and not written is unknown: shown, and never sent again.
      mayLose = true;
      victim.kill();
    }
    machine.plan(dice.between(20, 150), keeperFault);
  };
  const diskFault = (): void => {
    if (over.story) return;
    tell("the disk is full");
    machine.files.failWrites(dice.whole(1, 12));
    machine.plan(dice.between(10, 200), diskFault);
  };

  watch(world);
  for (const one of asked) machine.plan(dice.between(0, storyMs * 0.8), () => prompt(one));
  planEnd();
  if (keepers) machine.plan(dice.between(5, 100), keeperFault);
  if (disk) machine.plan(dice.between(5, 100), diskFault);
  machine.advance(storyMs);
  over.story = true;
  machine.files.failWrites(0);

  const endsOf = (session: string) => world.of("turn-ended", session);
  const isDone = (): boolean =>
    asked.every(
      ({ isTaken, promptId, session }) => isTaken && endsOf(session).some(({ data }) => data["promptId"] === promptId),
    );
  try {
    machine.until(isDone, SETTLE_MS);
  } catch {
    const open = asked.filter(
      ({ promptId, session }) => !endsOf(session).some(({ data }) => data["promptId"] === promptId),
    );
    wrongs.push(`never ended: ${open.map(({ text, isTaken }) => `${text} (${isTaken ? "taken" : "not taken"})`)}`);
  }
  machine.advance(3_000);
  checkJournals();
  machine.advance(15_000);
  checkLeftovers();
  return { seed, told, wrongs, changes, world: () => world };

  function checkJournals(): void {
    const got = world.keep.agents.all.flatMap((agent) =>
      agent.asked("session/prompt").map(({ params }) => (params as { prompt: [{ text: string }] }).prompt[0].text),
    );
    for (const session of SESSIONS) {
      const records = world.journal(session);
      const seqs = records.map(({ seq }) => seq);
      if (seqs.some((seq, index) => seq !== index + 1)) wrongs.push(`${session}: numbers ${seqs.join(" ")}`);
      for (const { seq, type, data } of records) {
        const content = seen.get(session)?.get(seq);
        if (content !== undefined && content !== JSON.stringify([type, data])) {
          wrongs.push(`${session} ${seq} was told as ${content}`);
        }
      }
      for (const { promptId, text } of asked.filter((each) => each.session === session)) {
        const of = (type: string) => records.filter((each) => each.type === type && each.data["promptId"] === promptId);
        const [end] = of("turn-ended");
        const counts = [of("prompt").length, of("turn-ended").length, got.filter((each) => each === text).length];
        const reason = String(end?.data["stopReason"]);
        if (reason === "lost" && mayLose && (counts[2] ?? 0) <= 1) continue;
        // No room to start an agent: it is told, and nothing was sent.
        if (reason === "error" && disk && counts.join() === "1,1,0") continue;
        if (counts.join() !== "1,1,1" || reason !== "end_turn")
          wrongs.push(`${text}: ${reason}, ${counts.join()} times`);
        const said = records
          .filter(({ type }) => type === "update")
          .map(({ data }) => String((data["update"] as { content?: { text?: string } }).content?.text))
          .filter((word) => word.startsWith(`${text}.`));
        if (said.join() !== wordsOf(text).join()) wrongs.push(`${text} said ${said.join()}`);
      }
    }
  }

  function checkLeftovers(): void {
    const left = machine.wait(world.service.endAgents(), 30_000);
    machine.advance(3_000);
    const running = world.keep.agents.all.filter(({ alive }) => alive).length;
    const keepersLeft = world.keep.keepers.filter(({ state }) => state !== "dead").length;
    // A keeper that leaves writes its state once more; on a real disk there is no directory any more.
    const isPlace = (name: string): boolean => machine.files.texts.has(`/state/keepers/${name}/spec.json`);
    const directories = machine.files.list("/state/keepers").filter(isPlace);
    if (left.length + running + keepersLeft + directories.length > 0) {
      wrongs.push(`left: ${JSON.stringify({ left, running, keepersLeft, directories })}`);
    }
  }
}

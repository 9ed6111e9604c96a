// Who prompts? One per session: waits, queues, detaches, cancels, runs out of time, or dies in the middle of it.
import type { Command } from "../history.ts";
import type { Work } from "../work.ts";
import type { Running } from "../yard.ts";
import { endQuestions } from "./questions.ts";
import type { Scene } from "./scene.ts";

const AGENTS = ["demo", "demo", "second"];

interface Cast extends Scene {
  session: string;
  agent: string;
}

function words({ session, agent, dice }: Cast, work: Work, ...flags: string[]): string[] {
  const policy = dice.pick(["allow", "deny", "allow-reads"]);
  return ["prompt", agent, work.text, "--session", session, "--permissions", policy, "--json", ...flags];
}

function send(cast: Cast, work: Work, timeoutMs?: number): Running {
  const flags = timeoutMs === undefined ? [] : ["--timeout", `${timeoutMs}ms`];
  const about = { session: cast.session, text: work.text, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const sent = cast.yard.start("prompt", words(cast, work, ...flags), { about });
  sent.closeInput();
  return sent;
}

const waits = async (cast: Cast): Promise<void> => void (await send(cast, cast.works.any(cast.dice)).ended);

async function queues(cast: Cast): Promise<void> {
  const sent = [];
  for (let count = cast.dice.whole(2, 4); count > 0; count--) {
    sent.push(send(cast, cast.works.any(cast.dice)).ended);
    await cast.pause(cast.dice.between(0, 60));
  }
  await Promise.all(sent);
}

/** Sends, leaves, and comes back by number until the turn has ended. */
async function detaches(cast: Cast): Promise<void> {
  const { yard, session, dice } = cast;
  const work = cast.works.any(dice);
  await yard.run("detach", words(cast, work, "--detach"), { about: { session, text: work.text } });
  let after = 0;
  for (let looks = dice.whole(1, 6); looks > 0 && !cast.isOver(); looks--) {
    const command = await yard.run(
      "read",
      ["read", session, "--after", String(after), "--count", "50", "--wait", "200ms", "--json"],
      { about: { session, after } },
    );
    after = nextOf(command) ?? after;
  }
}

const nextOf = ({ code, out }: Command): number | undefined => {
  if (code !== 0) return undefined;
  try {
    return JSON.parse(out).next;
  } catch {
    return undefined;
  }
};

async function cancels(cast: Cast): Promise<void> {
  const { dice, yard, session } = cast;
  const sent = send(cast, cast.works.stream(dice.whole(100, 900), dice.whole(2, 9)));
  await cast.pause(dice.between(0, 900));
  await yard.run("cancel", ["cancel", session], { about: { session } });
  await sent.ended;
}

const timesOut = async (cast: Cast): Promise<void> => {
  const { dice } = cast;
  await send(cast, cast.works.stream(dice.whole(100, 900), dice.whole(2, 9)), dice.whole(100, 1_500)).ended;
};

/** The person presses Ctrl-C, closes the terminal, or pulls the plug. */
async function leaves(cast: Cast): Promise<void> {
  const { dice } = cast;
  const sent = send(cast, cast.works.any(dice));
  await cast.pause(dice.between(0, 400));
  if (!sent.isOver()) sent.tell(dice.pick(["SIGINT", "SIGKILL", "SIGTERM"]));
  await sent.ended;
}

/** A question that nobody answers, until its turn is cancelled. */
async function wonders({ yard, session, agent, works, dice, pause }: Cast): Promise<void> {
  const { text } = works.ask();
  const flags = ["--session", session, "--permissions", "ask", "--detach", "--json"];
  await yard.run("detach", ["prompt", agent, text, ...flags], { about: { session, text } });
  await pause(dice.between(50, 1_500));
  await endQuestions(yard, session);
}

async function pins({ yard, session, dice }: Cast): Promise<void> {
  const flags = dice.pick([["--for", "1h"], ["--off"]]);
  await yard.run("keep", ["keep", session, ...flags], { about: { session } });
}

async function closes({ yard, session }: Cast): Promise<void> {
  await yard.run("close", ["close", session], { about: { session } });
}

const ACTS = [
  waits,
  waits,
  waits,
  queues,
  queues,
  detaches,
  detaches,
  cancels,
  timesOut,
  leaves,
  wonders,
  pins,
  closes,
];

export const useSession =
  (session: string) =>
  async (scene: Scene): Promise<void> => {
    const cast: Cast = { ...scene, session, agent: scene.dice.pick(AGENTS) };
    scene.sessions.push(session);
    // Before anything else it must be there for those that look.
    await waits(cast);
    while (!scene.isOver()) {
      await scene.dice.pick(ACTS)(cast);
      await scene.pause(scene.dice.between(0, 200));
    }
  };

/** Short prompts without a session, as a script sends them. */
export async function sendShort({ yard, works, dice, isOver, pause }: Scene): Promise<void> {
  while (!isOver()) {
    const { text } = works.echo();
    await yard.run("prompt", ["prompt", dice.pick(AGENTS), text], { about: { text, prints: `${text} (turn 1)\n` } });
    await pause(dice.between(0, 500));
  }
}

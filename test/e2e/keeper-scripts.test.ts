// What does a script see of a host that is killed? Nothing: its prompts end with 0 and are complete, and arrive once.
import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prompt, withAgents } from "./agent-stage.ts";
import { createHostKiller, tellingSeed } from "./host-killer.ts";
import type { Ran } from "./support.ts";

const SCRIPT = `#!/bin/bash
set -euo pipefail
holdfast prompt demo 'stream 60 5' | grep -E '^chunk [0-9]+$' | diff - <(seq -f 'chunk %g' 60)
holdfast prompt demo "hello $1" | grep -c "^hello $1 (turn 1)$"
`;

test(
  "[KP5] a shell script that prompts and greps completes with exit 0 fifty times of fifty, while a loop kills the host",
  withAgents(async (stage) => {
    const [SCRIPTS, LANES] = [50, 2];
    const file = join(stage.directory, "bin", "ask");
    writeFileSync(file, SCRIPT);
    chmodSync(file, 0o755);
    const killer = createHostKiller(stage, { pauseMs: [100, 500] });
    await tellingSeed(killer, async () => {
      const end = killer.start();
      const ran: Ran[] = [];
      let begun = 0;
      const lane = async (): Promise<void> => {
        while (begun < SCRIPTS) ran.push(await stage.shell(`ask ${++begun}`));
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      await end();
      const failed = ran.filter(({ code, stdout }) => code !== 0 || stdout !== "1\n");
      expect(failed).toEqual([]);
      expect(ran).toHaveLength(SCRIPTS);
    });
    // About one for each script, or nothing was shown.
    expect(killer.killed.length).toBeGreaterThan(20);
    // Each was made for one prompt, and closed behind it.
    const left = await stage.agentSessions();
    expect(left.map(({ name }) => stage.journal(name))).toEqual([]);
  }),
  180_000,
);

const BYTES = 4 * 1024 * 1024;
/** Every part of it is another, so that nothing can be left out or put twice. */
const bigText = (round: number): string => {
  let text = `Round ${round}:`;
  for (let at = 0; text.length < BYTES; at++) text += ` ${at}`;
  return text;
};

test(
  "[KP3] a prompt of 4 MB with the host killed on its way is asked again and arrives once, twenty times of twenty",
  withAgents(async (stage) => {
    const ROUNDS = 20;
    const killer = createHostKiller(stage, { pauseMs: [0, 250] });
    await stage.run(prompt("big", "hello"));
    const agent = await stage.agentPid();
    let midway = 0;
    await tellingSeed(killer, async () => {
      for (let round = 1; round <= ROUNDS; round++) {
        const text = bigText(round);
        const asking = stage.spawn(prompt("big", "-"), { stdin: text });
        await killer.once();
        if (asking.running) midway++;
        const { code } = await asking.exited;
        const keys = stage.inputs().map(({ key }) => key);
        expect(keys.length).toBe(new Set(keys).size);
        expect({ round, code, stderr: asking.stderr }).toEqual({ round, code: 0, stderr: expect.any(String) });
        // The agent counts: a prompt that it got twice would show here, and in the next round.
        expect(asking.stdout === `${text} (turn ${round + 1})\n` || asking.stdout.slice(-100)).toBe(true);
      }
      expect(await stage.agentPid()).toBe(agent);
      const records = stage.journal("big");
      for (const type of ["prompt", "turn-started", "turn-ended"])
        expect(records.filter((record) => record.type === type)).toHaveLength(ROUNDS + 1);
    });
    expect(midway).toBeGreaterThan(ROUNDS / 2);
  }),
  180_000,
);

test(
  "[KP5] [KP8] a prompt that meets stop at any moment is answered whole, and what stop leaves at work works on, forty times of forty",
  withAgents(async (stage) => {
    const odd: Ran[] = [];
    for (let round = 0; round < 40; round++) {
      await stage.run(["prompt", "demo", "warm"]);
      const stopping = stage.run(["stop"]);
      await Bun.sleep(round % 20);
      const ran = await stage.run(["prompt", "demo", `hello ${round}`]);
      const { code } = await stopping;
      if (code !== 0 || ran.code !== 0 || ran.stdout !== `hello ${round} (turn 1)\n`) odd.push(ran);
    }
    expect(odd).toEqual([]);
    expect(await stage.agentSessions()).toEqual([]);
  }),
  120_000,
);

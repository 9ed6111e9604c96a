// Are processes found by a tag in their environment? Also those in a session of their own, and nobody else's.
import { expect, test } from "bun:test";
import { taggedProcesses } from "../../src/platform/tagged.ts";

const NAME = "HOLDFAST_TEST_TAG";

const sleeper = (value: string, detached: boolean) =>
  Bun.spawn(["sleep", "100"], {
    env: { PATH: process.env["PATH"], [NAME]: value },
    detached,
    stdio: ["ignore", "ignore", "ignore"],
  });

test("[AM7] a tag is found in whatever session a process runs, only with its whole value, and no more after its end", async () => {
  const tag = crypto.randomUUID();
  const [near, far, longer] = [sleeper(tag, false), sleeper(tag, true), sleeper(`${tag}x`, false)];
  try {
    expect(taggedProcesses(NAME, tag).sort()).toEqual([near.pid, far.pid].sort());
    expect(taggedProcesses(NAME, tag.slice(0, -1))).toEqual([]);
    expect(taggedProcesses(NAME.slice(1), tag)).toEqual([]);
    near.kill("SIGKILL");
    await near.exited;
    expect(taggedProcesses(NAME, tag)).toEqual([far.pid]);
  } finally {
    for (const each of [near, far, longer]) each.kill("SIGKILL");
    await Promise.all([near.exited, far.exited, longer.exited]);
  }
});

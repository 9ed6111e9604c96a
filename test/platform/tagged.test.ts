// Are processes found by a tag in their environment? Also those in a session of their own, and nobody else's.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_TAG, sweepTagged, taggedProcesses } from "../../src/platform/tagged.ts";
import { until } from "../fixtures/until.ts";
import { createTempDir } from "../support/temp-dir.ts";

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

test("[KP7] [KP15] a sweep ends what an agent started, and neither a host nor a keeper nor ourselves, though they carry its tag", async () => {
  using directory = createTempDir();
  const tag = crypto.randomUUID();
  const program = directory.at("program");
  // What they are stands in their words: the program, its verb, and what follows.
  writeFileSync(program, "#!/bin/sh\nread a\n", { mode: 0o700 });
  const words = [
    ["keeper", "/state/keepers/run"],
    ["background-host", "--port", "1234"],
    ["serve", "--port", "1234"],
    ["mcp"],
  ];
  const started = words.map((each) =>
    Bun.spawn([program, ...each], { env: { [AGENT_TAG]: tag }, stdio: ["pipe", "ignore", "ignore"] }),
  );
  const [keeper, background, serve, mcp] = started as [Bun.Subprocess, Bun.Subprocess, Bun.Subprocess, Bun.Subprocess];
  try {
    await until(() => taggedProcesses(AGENT_TAG, tag).length === 4);
    expect(sweepTagged(tag)).toBe(2);
    await Promise.all([serve.exited, mcp.exited]);
    expect(taggedProcesses(AGENT_TAG, tag).sort()).toEqual([keeper.pid, background.pid].sort());
    expect(sweepTagged(tag)).toBe(0);
  } finally {
    for (const each of started) each.kill("SIGKILL");
    await Promise.all(started.map((each) => each.exited));
  }
});

/** Becomes a host in the foreground, as `serve` in an agent's shell does, and waits. */
const FOREGROUND = `
  import { nameAsHost } from "${join(import.meta.dir, "..", "..", "src/platform/own-kind.ts")}";
  nameAsHost();
  console.log("hosts");
  await Bun.sleep(600_000);
`;

test("[KP7] a host that an agent's shell runs in the foreground is not swept with the agent", async () => {
  using directory = createTempDir();
  writeFileSync(directory.at("host.ts"), FOREGROUND);
  const tag = crypto.randomUUID();
  const env = { PATH: process.env["PATH"], [AGENT_TAG]: tag };
  const host = Bun.spawn([process.execPath, directory.at("host.ts")], { env, stdout: "pipe", stderr: "inherit" });
  await host.stdout.getReader().read();
  expect(taggedProcesses(AGENT_TAG, tag)).toEqual([host.pid]);
  expect(sweepTagged(tag)).toBe(0);
  expect(host.exitCode).toBeNull();
  host.kill("SIGKILL");
  await host.exited;
});

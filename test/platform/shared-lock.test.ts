// Is a lock held as long as its holder lives, and no longer? By any number at once, and free the moment they are killed.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHeld } from "../../src/platform/shared-lock.ts";
import { whereabouts } from "../../src/platform/whereabouts.ts";
import { createTempDir } from "../support/temp-dir.ts";

const HOLDER = `
  import { holdShared } from "${join(import.meta.dir, "..", "..", "src/platform/shared-lock.ts")}";
  holdShared(process.argv.at(-1));
  // What it starts must not hold it too.
  Bun.spawn(["sleep", "600"], { detached: true, stdio: ["ignore", "ignore", "ignore"] }).unref();
  console.log("held");
  await Bun.sleep(600_000);
`;

test("[KP13] what several hold is held until the last of them was killed, though what they started lives on", async () => {
  using directory = createTempDir();
  writeFileSync(directory.at("holder.ts"), HOLDER);
  const path = directory.at("home.json");
  expect(isHeld(path)).toBe(false);
  writeFileSync(path, "{}");
  expect(isHeld(path)).toBe(false);
  const start = async () => {
    const holder = Bun.spawn([process.execPath, directory.at("holder.ts"), path], { stdout: "pipe", detached: true });
    await holder.stdout.getReader().read();
    return holder;
  };
  const [one, two] = [await start(), await start()];
  const children = [one, two].map(({ pid }) =>
    Number(
      Bun.spawnSync(["pgrep", "-P", String(pid)])
        .stdout.toString()
        .trim(),
    ),
  );
  try {
    expect(isHeld(path)).toBe(true);
    one.kill("SIGKILL");
    await one.exited;
    expect(isHeld(path)).toBe(true);
    two.kill("SIGKILL");
    await two.exited;
    expect(isHeld(path)).toBe(false);
  } finally {
    for (const pid of children) process.kill(pid, "SIGKILL");
  }
});

test("[KP13] where we run has a name for machine, boot and both namespaces, and it is always the same", () => {
  const here = whereabouts();
  expect(here).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{16}$/),
    machine: expect.any(String),
    host: expect.any(String),
    boot: expect.stringMatching(/^[0-9a-f-]{36}$/),
    pids: expect.stringMatching(/^pid:\[\d+\]$/),
    net: expect.stringMatching(/^net:\[\d+\]$/),
  });
  expect(whereabouts()).toEqual(here);
});

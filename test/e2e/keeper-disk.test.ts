// What if the disk is full in the middle of a turn? Everybody is told, nobody hangs, and with room again it all goes on.
import { expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentStage, chunks, inJson, numbersOf, prompt, textOf, withAgents } from "./agent-stage.ts";
import { until } from "./until.ts";

const DISK = "48m";
const FULL_MS = 2_000;

/** Mounting takes root, or somebody who may become it without being asked. */
const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];

/** The whole stage is on a disk of its own. */
const onSmallDisk =
  (body: (stage: AgentStage) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const before = process.env["TMPDIR"];
    const disk = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
    const system = (...words: string[]) => Bun.spawnSync([...asRoot, ...words]);
    const options = `size=${DISK},mode=700,uid=${process.getuid?.()}`;
    const mounted = system("mount", "-t", "tmpfs", "-o", options, "tmpfs", disk);
    if (mounted.exitCode !== 0) throw new Error(`There is no small disk to be had: ${mounted.stderr}`);
    try {
      process.env["TMPDIR"] = disk;
      await withAgents(body)();
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      // A process that is gone to all who look may still be closing its files.
      await until("the disk is nobody's", () => system("umount", disk).exitCode === 0);
      rmdirSync(disk);
    }
  };

/** To the last byte, and over again while somebody gives something back. */
function fill(path: string, bytes: number): void {
  try {
    for (const block = Buffer.alloc(bytes); ; ) appendFileSync(path, block);
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== "ENOSPC") throw thrown;
  }
}

test(
  "[KP9] [SE3] the disk is full for two seconds in mid-turn: new prompts are refused with the reason, nothing hangs, and afterwards all goes on",
  onSmallDisk(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
    const running = stage.spawn(inJson(...prompt("work", "stream 2000 2")));
    await running.event("update");
    const ballast = join(stage.directory, "ballast");
    writeFileSync(ballast, "");
    const since = performance.now();
    for (const bytes of [1024 * 1024, 4096, 1]) fill(ballast, bytes);
    expect(statfsSync(stage.directory).bavail).toBe(0);

    const refused = await stage.run(prompt("other", "hello"));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/disk is full|cannot be written/);
    expect(refused.stderr).toContain("make room and try again");
    expect((await stage.agentSession("work"))?.turn).toMatch(/running|idle/);
    expect((await stage.run(["status"])).code).toBe(0);
    await Bun.sleep(Math.max(0, FULL_MS - (performance.now() - since)));
    rmSync(ballast);

    // Whether its agent came through or not: the turn has an end, and that says how it was.
    const { code } = await running.exited;
    const said = textOf(running.events);
    if (code === 0) expect(said).toBe(chunks(2_000));
    else {
      expect({ code, stderr: running.stderr }).toEqual({ code: 5, stderr: expect.stringMatching(/unknown/) });
      expect(chunks(2_000)).toStartWith(said);
    }
    const recovered = async () => (await stage.run(prompt("work", "again"))).stdout === "again (turn 3)\n";
    await until("the next turn", recovered);
    const records = stage.journal("work");
    expect(numbersOf(records)).toEqual(records.map((_, at) => at + 1));
    expect(records.filter(({ type }) => type === "records-lost")).toEqual([]);
    expect((await stage.run(prompt("other", "hello"))).stdout).toBe("hello (turn 1)\n");
  }),
  120_000,
);

test(
  "[SE3] [KP9] a host starts on a full disk too: what is there can be looked at, a prompt is refused with the reason, and with room it goes on",
  onSmallDisk(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
    expect((await stage.run(["stop"])).code).toBe(0);
    const ballast = join(stage.directory, "ballast");
    for (const bytes of [1024 * 1024, 4096, 1]) fill(ballast, bytes);

    expect((await stage.agentSession("work"))?.turn).toBe("idle");
    expect((await stage.run(["status"])).code).toBe(0);
    expect((await stage.run(["read", "work"])).stdout).toContain("hello (turn 1)");
    const refused = await stage.run(prompt("work", "again"));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("The disk is full");
    expect(refused.stderr).not.toContain("installed");
    expect((await stage.run(["stop"])).code).toBe(0);
    const host = await stage.serve();
    expect(host.stderr).toContain("The disk is full: whoever takes over will not know this host's settings");
    await host.end("SIGTERM");

    rmSync(ballast);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 2)\n");
  }),
  120_000,
);

// Is the binary all that is needed? Alone in a folder, with nothing in its environment but a home.
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "../support/binary.ts";
import { mentioning, reservePort } from "./leftovers.ts";
import { startProcess } from "./process.ts";
import { SHORT_DIRECTORY } from "./support.ts";
import { until } from "./until.ts";

test("[CM2] copied alone into an empty folder it does its work, and writes nowhere but in its home", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-alone-"));
  const [folder, home, temporary] = ["folder", "home", "tmp"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [folder, home, temporary]) mkdirSync(path);
  copyFileSync(BINARY, join(folder, "holdfast"));
  // A place for temporary files of its own: in the common one nobody could tell what is whose.
  const { port, release } = await reservePort();
  const own = [`HOME=${home}`, "PATH=/usr/bin:/bin", `TMPDIR=${temporary}`, `HOLDFAST_PORT=${port}`];
  const start = (...words: string[]) =>
    startProcess(["/usr/bin/env", "-i", ...own, "./holdfast", ...words], {}, { cwd: folder });
  const run = async (...words: string[]) => {
    const proc = start(...words);
    proc.closeStdin();
    const { code } = await proc.exited;
    return { code, stdout: proc.stdout, stderr: proc.stderr };
  };
  try {
    const doctor = await run("doctor");
    expect({ code: doctor.code, problem: /^problem.*/m.exec(doctor.stdout)?.[0] }).toEqual({
      code: 0,
      problem: undefined,
    });
    expect(doctor.stdout).toContain("ok  version  holdfast ");
    expect(await run("prompt", "demo", "hi")).toEqual({ code: 0, stdout: "hi (turn 1)\n", stderr: "" });
    const plugin = start("plugin", "js", "--json");
    await plugin.event("connected");
    expect(await run("exec", "6*7")).toEqual({ code: 0, stdout: "42\n", stderr: "" });
    expect(await plugin.end("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(await run("stop", "--agents")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Host \d+ stopped/),
    });

    await until(
      () => `the end of ${JSON.stringify(mentioning(directory))}`,
      () => mentioning(directory).length === 0,
    );
    expect(readdirSync(folder)).toEqual(["holdfast"]);
    expect(readdirSync(temporary, { recursive: true }).filter((name) => name !== SHORT_DIRECTORY)).toEqual([]);
    expect(readdirSync(directory).sort()).toEqual(["folder", "home", "tmp"]);
    expect(readdirSync(join(home, ".local", "state"))).toEqual(["holdfast"]);
  } finally {
    for (const { pid } of mentioning(directory)) process.kill(pid, "SIGKILL");
    rmSync(directory, { recursive: true, force: true });
    release();
  }
}, 60_000);

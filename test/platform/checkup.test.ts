// Does a look at this machine leave nothing behind that keeps the process?
import { expect, test } from "bun:test";
import { join } from "node:path";

const CHECKUP = join(import.meta.dir, "../../src/platform/checkup.ts");

test("[CM4] whoever has asked a program for its version ends when it is answered, and not when its time would be over", async () => {
  const script = `const { systemCheckup } = await import(${JSON.stringify(CHECKUP)});
    console.log(await systemCheckup.versionOf(process.execPath, process.env, 3_600_000));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  expect(await new Response(child.stdout).text()).toContain(Bun.version);
  expect(await child.exited).toBe(0);
});

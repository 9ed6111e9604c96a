// Who holds a port? Linux tells through /proc.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { portOwner } from "../../src/platform/port-owner.ts";

setDefaultTimeout(60_000);

const onLinux = test.skipIf(process.platform !== "linux");
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

async function listen(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closers.push(() => server.close());
  return (server.address() as { port: number }).port;
}

onLinux("[TK10] a listener on 127.0.0.1 or on all addresses is told with pid and name", async () => {
  const command = readFileSync("/proc/self/comm", "utf8").trim();
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    expect(portOwner(await listen(host)), host).toEqual({ pid: process.pid, command });
  }
});

onLinux("[TK10] the pid is that of another process when it is another's", async () => {
  const script = `
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
    console.log(server.port);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  closers.push(() => child.kill("SIGKILL"));
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  expect(portOwner(port)?.pid).toBe(child.pid);
});

onLinux("[TK10] a stopped process is told as well: that is when it matters", async () => {
  const script = `
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
    console.log(server.port);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  closers.push(() => child.kill("SIGKILL"));
  const { value } = await child.stdout.getReader().read();
  child.kill("SIGSTOP");
  expect(portOwner(Number(new TextDecoder().decode(value)))?.pid).toBe(child.pid);
});

test("[TK10] a free port, or one that is held on [::1] alone, has no owner to tell", async () => {
  const port = await listen("::1");
  expect(portOwner(port)).toBeUndefined();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: freed } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  expect(portOwner(freed)).toBeUndefined();
});

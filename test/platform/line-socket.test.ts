// Do lines of any length get over a unix socket? Both ways, in order, whole, and the end behind what was sent.
import { describe, expect, test } from "bun:test";
import { rmSync, statSync, writeFileSync } from "node:fs";
import type { LineSocket } from "../../src/platform/agent-world.ts";
import { connectLines, listenLines } from "../../src/platform/line-socket.ts";
import { createTempDir } from "../support/temp-dir.ts";

interface Side {
  lines: string[];
  closed: boolean;
  socket: LineSocket | undefined;
}

const side = (): Side => ({ lines: [], closed: false, socket: undefined });
const attachTo = (to: Side) => (socket: LineSocket) => {
  to.socket = socket;
  return {
    line: (line: string) => void to.lines.push(line),
    closed() {
      to.closed = true;
    },
  };
};

async function until(holds: () => boolean, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${holds}`);
    await Bun.sleep(1);
  }
}

describe("a line socket", () => {
  test("[KP3] carries lines of 4 MB between short ones, both ways at once, whole and in order", async () => {
    using directory = createTempDir();
    const [keeper, host] = [side(), side()];
    const door = listenLines(directory.at("s"), attachTo(keeper));
    const connected = await connectLines(directory.at("s"), attachTo(host));
    expect(connected.kind).toBe("open");
    const big = "ä".repeat(2 * 1024 * 1024);
    const lines = ["a", big, "", "b", `${big}!`, "c"];
    for (const line of lines) {
      host.socket?.send(line);
      keeper.socket?.send(`k${line}`);
    }
    await until(() => host.lines.length === lines.length && keeper.lines.length === lines.length);
    expect(keeper.lines.map((line, index) => line === lines[index])).toEqual(lines.map(() => true));
    expect(host.lines.map((line, index) => line === `k${lines[index]}`)).toEqual(lines.map(() => true));
    door.close();
    await until(() => host.closed);
  });

  test("[KP3] 100,000 short lines come once and in order", async () => {
    using directory = createTempDir();
    const [keeper, host] = [side(), side()];
    const door = listenLines(directory.at("s"), attachTo(keeper));
    await connectLines(directory.at("s"), attachTo(host));
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`);
    for (const line of lines) host.socket?.send(line);
    await until(() => keeper.lines.length >= lines.length);
    expect(keeper.lines).toEqual(lines);
    door.close();
  });

  test("[KP8] the end comes behind what was sent, both hear of it, and nothing is said after it", async () => {
    using directory = createTempDir();
    const [keeper, host] = [side(), side()];
    const door = listenLines(directory.at("s"), attachTo(keeper));
    await connectLines(directory.at("s"), attachTo(host));
    await until(() => keeper.socket !== undefined);
    const big = "x".repeat(4 * 1024 * 1024);
    keeper.socket?.send(big);
    keeper.socket?.send("fenced");
    keeper.socket?.end();
    keeper.socket?.send("never");
    await until(() => host.closed && keeper.closed);
    expect([host.lines.length, host.lines[0]?.length, host.lines[1]]).toEqual([2, big.length, "fenced"]);
    door.close();
  });

  test("[KP2] where nobody listens it is refused at once: no socket, a dead one's, no socket at all", async () => {
    using directory = createTempDir();
    const attach = attachTo(side());
    const since = performance.now();
    expect(await connectLines(directory.at("nothing"), attach)).toEqual({ kind: "refused" });
    const child = Bun.spawnSync([
      process.execPath,
      "-e",
      `Bun.listen({ unix: "${directory.at("dead")}", socket: { data() {} } }); process.kill(process.pid, "SIGKILL")`,
    ]);
    expect([child.signalCode as string | undefined, statSync(directory.at("dead")).isSocket()]).toEqual([
      "SIGKILL",
      true,
    ]);
    expect(await connectLines(directory.at("dead"), attach)).toEqual({ kind: "refused" });
    writeFileSync(directory.at("file"), "");
    expect(await connectLines(directory.at("file"), attach)).toEqual({ kind: "refused" });
    expect(performance.now() - since).toBeLessThan(5_000);
    const door = listenLines(directory.at("dead"), attach);
    expect((await connectLines(directory.at("dead"), attachTo(side()))).kind).toBe("open");
    door.close();
  });

  test("[KP7] a door knows when its name was removed, and removes it when it closes", () => {
    using directory = createTempDir();
    const door = listenLines(directory.at("s"), attachTo(side()));
    expect(door.look()).toBe("ours");
    door.close();
    expect(statSync(directory.at("s"), { throwIfNoEntry: false })).toBeUndefined();
    expect(door.look()).toBe("gone");
  });

  test("[KP6] a door whose name was removed listens there again, and who is connected stays", async () => {
    using directory = createTempDir();
    const server = side();
    const door = listenLines(directory.at("s"), attachTo(server));
    const before = side();
    const connected = await connectLines(directory.at("s"), attachTo(before));
    if (connected.kind !== "open") throw new Error("Refused");
    rmSync(directory.at("s"));
    expect(door.look()).toBe("gone");
    door.listenAgain();
    expect([door.look(), (statSync(directory.at("s")).mode & 0o777).toString(8)]).toEqual(["ours", "600"]);
    expect((await connectLines(directory.at("s"), attachTo(side()))).kind).toBe("open");
    connected.socket.send("still here");
    await until(() => server.lines.includes("still here"));
    door.close();
  });

  test("[KP6] [KP7] one whose place another took knows that, and leaves the other's alone", async () => {
    using directory = createTempDir();
    const first = listenLines(directory.at("s"), attachTo(side()));
    const second = listenLines(directory.at("s"), attachTo(side()));
    expect([first.look(), second.look()]).toEqual(["taken", "ours"]);
    first.close();
    expect(second.look()).toBe("ours");
    expect((await connectLines(directory.at("s"), attachTo(side()))).kind).toBe("open");
    second.close();
  });
});

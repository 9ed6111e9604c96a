// Is an agent a child as the rules want it? Real processes: groups, sessions, pipes that break, and stderr that never blocks.
import { describe, expect, test } from "bun:test";
import { findCommand, spawnAgent } from "../../src/platform/agent-child.ts";
import { isAlive, runShell, statOf, until } from "../agents/real-agent.ts";

const PATH = process.env["PATH"] ?? "";

describe("an agent's process", () => {
  test("[AM3] a command that is not on its own PATH is missing, whatever ours is", () => {
    const spawn = (command: string, env: Record<string, string>) =>
      spawnAgent({ agent: "a", run: "r", command, args: [], env, cwd: "/" }, { output() {} }).kind;
    expect(spawn("no-such-agent-anywhere", { PATH })).toBe("missing");
    expect(spawn("sh", { PATH: "/nowhere" })).toBe("missing");
    expect(spawn("sh", {})).toBe("missing");
    expect([findCommand("sh", PATH), findCommand("sh", "/nowhere")]).toEqual([true, false]);
  });

  test("[AM7] leads a group and a session of its own", async () => {
    await using agent = runShell("read line");
    const { pid } = agent.process;
    expect(statOf(pid)).toMatchObject({ group: pid, session: pid });
  });

  test("[AM10] has exactly the environment it was given, and its tag", async () => {
    process.env["HOLDFAST_TEST_SECRET"] = "of the host";
    await using agent = runShell("env", { env: { OWN: "1" } });
    delete process.env["HOLDFAST_TEST_SECRET"];
    await agent.process.exited;
    const names = agent.lines.map((line) => line.split("=")[0]).sort();
    expect(names.filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name ?? ""))).toEqual([
      "HOLDFAST_AGENT",
      "HOME",
      "OWN",
      "PATH",
    ]);
  });

  test("[AC2] its exit is told with code or signal, after everything it said", async () => {
    await using one = runShell("seq 1 20000; exit 3");
    expect(await one.process.exited).toEqual({ code: 3, signal: null });
    expect(one.lines).toHaveLength(20_000);
    await using other = runShell("kill -KILL $$");
    expect(await other.process.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("[AC2] a grandchild that keeps the pipes does not hide the exit", async () => {
    await using agent = runShell("sleep 1000 & echo started; exit 4");
    expect(await agent.process.exited).toEqual({ code: 4, signal: null });
    expect(agent.lines).toEqual(["started"]);
  });

  test("[AM8] megabytes of stderr never block it, and the last 200 lines are kept, each cut at 2000 characters", async () => {
    await using agent = runShell(
      "seq 1 1000000 >&2; head -c 100000 /dev/zero | tr '\\0' x >&2; echo >&2; printf 'no end' >&2; echo done",
    );
    await agent.process.exited;
    expect(agent.lines).toEqual(["done"]);
    const stderr = agent.process.stderr();
    expect(stderr).toHaveLength(200);
    expect(stderr.slice(-3).map((line) => line.slice(0, 7))).toEqual(["1000000", "xxxxxxx", "no end"]);
    expect(stderr.at(-2)).toHaveLength(2_000);
    expect(stderr[0]).toBe("999803");
  });

  test("[AM7] a signal reaches its whole group", async () => {
    await using agent = runShell("sleep 1000 & echo $!; wait");
    await until(() => agent.lines.length === 1);
    const child = Number(agent.lines[0]);
    expect(statOf(child)?.group).toBe(agent.process.pid);
    agent.process.signalGroup("SIGTERM");
    await agent.process.exited;
    await until(() => !isAlive(child));
  });

  test("[AM7] a grandchild in a session of its own survives the group's SIGKILL, and the sweep by tag ends it", async () => {
    await using agent = runShell("setsid sleep 1000 & echo $!; wait");
    await until(() => agent.lines.length === 1);
    const stray = Number(agent.lines[0]);
    await until(() => statOf(stray)?.session === stray);
    agent.process.signalGroup("SIGKILL");
    await agent.process.exited;
    expect(isAlive(stray)).toBe(true);
    expect(agent.process.sweep()).toBe(1);
    await until(() => !isAlive(stray));
    expect(agent.process.sweep()).toBe(0);
  });
});

describe("pipes that break", () => {
  const begun = performance.now;

  test("[AM4] [AC2] one that closes its stdin and ignores SIGTERM is ended when it is written to", async () => {
    await using agent = runShell("trap '' TERM; exec 0<&-; echo deaf; while :; do sleep 0.05; done");
    await until(() => agent.lines.length === 1);
    const from = begun();
    agent.process.write("hello");
    expect(await agent.process.exited).toMatchObject({ code: null });
    expect(begun() - from).toBeLessThan(3_000);
  });

  test("[AM4] [AC2] one that closes its stdout can answer nothing any more, and is ended", async () => {
    await using agent = runShell("trap '' TERM; echo dumb; exec 1>&-; while :; do sleep 0.05; done");
    await until(() => agent.lines.length === 1);
    const from = begun();
    expect(await agent.process.exited).toMatchObject({ code: null });
    expect(begun() - from).toBeLessThan(3_000);
  });

  test("[AM7] one that closes its stdout because it was asked to leave has its time", async () => {
    await using agent = runShell("cat >/dev/null; echo last; exec 1>&-; sleep 0.6; exit 9");
    agent.process.closeInput();
    expect(await agent.process.exited).toEqual({ code: 9, signal: null });
    expect(agent.lines).toEqual(["last"]);
  });

  test("[AC1] what is written after the input was closed, or after the exit, is dropped without a noise", async () => {
    await using agent = runShell("exit 0");
    await agent.process.exited;
    agent.process.write("x".repeat(1_000_000));
    agent.process.closeInput();
    agent.process.write("x");
    agent.process.closeInput();
    expect(await agent.process.exited).toEqual({ code: 0, signal: null });
  });

  test("[AC1] a prompt of megabytes goes in whole, although the pipe takes 64 KiB at a time", async () => {
    await using agent = runShell("head -n 2 | wc -c");
    agent.process.write("a".repeat(4_000_000));
    agent.process.write("b");
    await agent.process.exited;
    expect(Number(agent.lines[0])).toBe(4_000_003);
  });
});

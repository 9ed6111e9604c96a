// Does anything hang or break when an adapter misbehaves? The whole service on real processes that do their worst.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { AgentDefinition } from "../../src/agents/definitions.ts";
import { createAgentService } from "../../src/agents/service.ts";
import type { AgentService } from "../../src/agents/service-needs.ts";
import { endProcess } from "../../src/keeper/ladder.ts";
import { findCommand, spawnAgent } from "../../src/platform/agent-child.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { systemFiles } from "../../src/platform/files.ts";
import { takeGeneration } from "../../src/platform/generation.ts";
import type { Clock } from "../../src/platform/world.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { fixture, isAlive, runFixture, until } from "./real-agent.ts";

/** The same limits, gone through faster. */
const hurried = (times: number): Clock => ({
  ...systemClock,
  after: (ms, run) => systemClock.after(ms / times, run),
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
});

const children = (): string => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim();

interface Turn extends AsyncDisposable {
  service: AgentService;
  heard: SessionRecord[];
  warnings: string[];
  ended(): SessionRecord["data"] | undefined;
  said(): string;
  prompt(text?: string): Promise<void>;
}

async function openWith(how: string, clock: Clock = systemClock): Promise<Turn> {
  const directory = createTempDir();
  const heard: SessionRecord[] = [];
  const warnings: string[] = [];
  const definition: AgentDefinition = {
    name: "bad",
    displayName: "Bad Agent",
    commands: [{ command: process.execPath, args: [fixture("bad-agent.ts"), how] }],
    environment: ["PATH", "HOME"],
    env: {},
    install: "no way",
  };
  const service = createAgentService({
    clock,
    files: systemFiles,
    log: { info() {}, warn: (message) => void warnings.push(message) },
    newId: () => crypto.randomUUID(),
    random: Math.random,
    directory: directory.path,
    generation: takeGeneration(systemFiles, clock, directory.path),
    definitions: [definition],
    spawn: spawnAgent,
    which: findCommand,
    idleLimits: () => DEFAULT_SETTINGS.idle,
    companyChanged() {},
  });
  const client = { clientId: "c", events: (_: string, records: SessionRecord[]) => void heard.push(...records) };
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory.path };
  const ended = () => heard.filter(({ type }) => type === "turn-ended").at(-1)?.data;
  return {
    service,
    heard,
    warnings,
    ended,
    said: () =>
      heard
        .map(({ data }) => (data["update"] as { content?: { text?: string } } | undefined)?.content?.text ?? "")
        .join(""),
    async prompt(text = "go") {
      const before = heard.filter(({ type }) => type === "turn-ended").length;
      const promptId = crypto.randomUUID();
      await service.asked(client, {
        verb: "prompt",
        agent: "bad",
        session: "work",
        cwd: "/tmp",
        policy: "deny",
        detach: false,
        promptId,
        env,
        text,
      });
      if (before === 0) await service.asked(client, { verb: "attach", session: "work", after: 0 });
      await until(() => heard.filter(({ type }) => type === "turn-ended").length > before);
    },
    async [Symbol.asyncDispose]() {
      await service.leave(false);
      await service.end();
      directory[Symbol.dispose]();
    },
  };
}

describe("lines", () => {
  test.each(["garbage", "ids"])(
    "[AC1] %s around the answer: it is skipped, and the turn ends as it should",
    async (how) => {
      await using turn = await openWith(how);
      await turn.prompt();
      expect(turn.ended()).toMatchObject({ stopReason: "end_turn" });
      expect(turn.said()).toBe("done");
      await turn.prompt();
      expect(turn.said()).toBe("donedone");
    },
  );

  test("[AC1] an answer that comes byte by byte counts when its line has ended", async () => {
    await using turn = await openWith("halves");
    await turn.prompt();
    expect(turn.ended()).toMatchObject({ stopReason: "end_turn" });
    expect(turn.said()).toBe("cut ");
  });

  test("[AC1] a line of 40 MB is dropped with a notice, the next is read, and memory stays what it was", async () => {
    await using turn = await openWith("long");
    await turn.prompt();
    const before = process.memoryUsage().rss;
    await turn.prompt();
    expect(turn.said()).toBe("after the long linedoneafter the long linedone");
    expect(
      turn.warnings.filter((each) => /^A line of 400\d{5} bytes from Bad Agent was dropped$/.test(each)),
    ).toHaveLength(2);
    Bun.gc(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe("handshakes", () => {
  test.each([
    ["exits", "It exited with code 3 during the handshake\nCannot find module 'left-pad'"],
    ["refuses", "Not today"],
    ["garbles", "protocolVersion"],
  ])("[AM3] one that %s: the turn ends with the reason, and no process stays", async (how, why) => {
    await using turn = await openWith(how);
    await turn.prompt();
    expect(turn.ended()).toMatchObject({ stopReason: "error", code: "AGENT_FAILED" });
    expect(String(turn.ended()?.["message"])).toStartWith("Could not connect to Bad Agent\n");
    expect(String(turn.ended()?.["message"])).toContain(why);
    await until(() => children() === "");
  });

  test("[AM3] one that never answers is given up, and its process ended", async () => {
    await using turn = await openWith("silent", hurried(100));
    await turn.prompt();
    expect(String(turn.ended()?.["message"])).toContain('No answer to "initialize" within 30000 ms');
    await until(() => children() === "");
  });

  test("[AM8] one that writes megabytes to stderr before it answers is not blocked by it", async () => {
    await using turn = await openWith("stderr");
    await turn.prompt();
    expect(turn.ended()).toMatchObject({ stopReason: "end_turn" });
  });
});

describe("leaving", () => {
  test("[AM7] one that ignores the end of its input and SIGTERM goes by SIGKILL, after 5 and 2 s of the clock", async () => {
    const agent = runFixture("bad-agent.ts", ["stubborn"]);
    agent.process.write(JSON.stringify({ id: 1, method: "initialize", params: {} }));
    await until(() => agent.lines.length === 1);
    const waits: number[] = [];
    const clock: Clock = {
      ...systemClock,
      sleep(ms, signal) {
        waits.push(ms);
        return systemClock.sleep(ms / 50, signal);
      },
    };
    await endProcess(clock, agent.process);
    expect(waits.slice(0, 3)).toEqual([5_000, 2_000, 2_000]);
    expect(await agent.process.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("[AM7] the end of the service leaves nothing: neither group nor grandchildren in sessions of their own", async () => {
    let pids: number[] = [];
    {
      await using turn = await openWith("strays", hurried(50));
      await turn.prompt();
      const [info] = (await turn.service.asked({ clientId: "c", events() {} }, { verb: "agents", env: {} })) as {
        pid: number;
        stderr: string[];
      }[];
      pids = [info?.pid ?? 0, ...(info?.stderr[0] ?? "").split(" ").map(Number)];
      expect(pids.filter(isAlive)).toHaveLength(3);
    }
    await until(() => pids.filter(isAlive).length === 0);
    expect(pids).toHaveLength(3);
  });
});

// How does an agent come to life? With the right command and environment, and a client that hears each of its lines.
import { describe, expect, test } from "bun:test";
import type { AgentInfo } from "../../src/protocol/agents.ts";
import { CLAUDE, openManager } from "./manager-world.ts";
import { ENV, midTurn } from "./service-world.ts";

describe("the launcher", () => {
  test("[AM2] takes the first of an agent's commands that is on the PATH of whoever asks", () => {
    const start = (installed: readonly string[]) => {
      const world = openManager({}, { which: (command, path) => path === "/my/bin" && installed.includes(command) });
      world.launcher.remember(CLAUDE, { PATH: "/my/bin" });
      world.manager.ensureAgent(CLAUDE).catch(() => undefined);
      world.machine.advance(0);
      return world.agents.all[0]?.command.command;
    };
    expect(start(["claude-code-acp", "claude-agent-acp"])).toBe("claude-code-acp");
    expect(start(["claude-agent-acp"])).toBe("claude-agent-acp");
    expect(start(["codex-acp"])).toBeUndefined();
  });

  test("[AM10] the environment is kept in a private file, and a restart by the next host has it too", () => {
    const first = openManager();
    first.launcher.remember(CLAUDE, ENV);
    const text = first.machine.files.texts.get("/state/claude-code.env.json") ?? "";
    expect(JSON.parse(text)).toEqual({ PATH: "/bin", HOME: "/home/me", ANTHROPIC_API_KEY: "sk-1" });
    const next = openManager({}, { files: first.machine.files });
    next.machine.wait(next.manager.ensureAgent(CLAUDE));
    expect(next.agents.latest.command).toMatchObject({
      env: { PATH: "/bin", HOME: "/home/me", ANTHROPIC_API_KEY: "sk-1" },
      cwd: "/home/me",
      args: [],
    });
  });

  test("[AM10] [SE3] a full disk keeps nobody from starting an agent: it has its environment all the same", () => {
    const { launcher, machine, manager, agents, log } = openManager();
    machine.files.failWrites(1);
    launcher.remember(CLAUDE, ENV);
    machine.wait(manager.ensureAgent(CLAUDE));
    expect(agents.latest.command.env["ANTHROPIC_API_KEY"]).toBe("sk-1");
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
    expect(JSON.stringify(log)).not.toContain("sk-1");
  });

  test("[AC1] a line of 40 MB is dropped with a notice that names its size, and the next line is heard", () => {
    const { agents, machine, viewer, acpId, process } = midTurn();
    const { latest } = agents;
    const piece = new Uint8Array(1_000_000).fill(120);
    for (let count = 0; count < 40; count++) latest.bytes(piece);
    latest.bytes(Buffer.from("\n"));
    latest.text(acpId, "still here");
    machine.advance(0);
    expect(process.log.map(({ message }) => message)).toContain(
      "A line of 40000000 bytes from Claude Code was dropped",
    );
    expect(viewer.of("update")).toHaveLength(1);
  });

  test("[SE3] each update has the life of the process it came from and where its line began", () => {
    const { agents, machine, acpId, journal } = midTurn();
    const { latest } = agents;
    const line = (text: string) =>
      `${JSON.stringify({ method: "session/update", params: { sessionId: acpId, update: { sessionUpdate: "x", text } } })}\n`;
    latest.bytes(Buffer.from(`garbage\n${line("é")}${line("b")}`));
    machine.advance(0);
    const sources = journal("work")
      .filter(({ type }) => type === "update")
      .map((each) => each["source"] as { run: string; offset: number });
    expect(sources[1]?.offset).toBe((sources[0]?.offset ?? 0) + Buffer.byteLength(line("é")));
    expect(sources[0]?.run).toBe(String(sources[1]?.run));
  });

  test("[AM2] [AM8] infos tell of each agent whether it is found, how it is, and the last lines of its stderr", () => {
    const { agents, machine, viewer } = midTurn({ deps: { which: (command) => command.startsWith("claude") } });
    agents.latest.stderr = ["one", "two"];
    const infos = viewer.done<AgentInfo[]>({ verb: "agents", env: { PATH: "/bin" } });
    const [claude, codex] = infos;
    expect(claude).toMatchObject({
      name: CLAUDE,
      displayName: "Claude Code",
      command: "claude-code-acp",
      found: true,
      status: "connected",
      pid: agents.latest.pid,
      stderr: ["one", "two"],
    });
    expect(codex).toMatchObject({ found: false, status: "idle", pid: null, command: "codex-acp", stderr: [] });
    machine.advance(0);
  });
});

describe("updates that come early", () => {
  test("[SE3] [AC1] those of a session whose name is not known yet are kept until it is, in order, with their source", () => {
    const { viewer, journal } = midTurn({
      replies: {
        "session/new"(_, agent) {
          agent.update("early-1", { sessionUpdate: "available_commands_update", availableCommands: [] });
          agent.text("early-1", "hello");
          agent.text("somebody-else", "not mine");
          return { result: { sessionId: "early-1" } };
        },
      },
    });
    const updates = viewer.of("update").map(({ data }) => (data["update"] as { sessionUpdate: string }).sessionUpdate);
    expect(updates).toEqual(["available_commands_update", "agent_message_chunk"]);
    const types = viewer.types();
    expect(types.indexOf("session-opened")).toBeLessThan(types.indexOf("update"));
    for (const { source } of journal("work").filter(({ type }) => type === "update") as { source?: unknown }[]) {
      expect(source).toMatchObject({ run: expect.any(String), offset: expect.any(Number) });
    }
  });

  test("[SE3] they are told once, also when the session is opened in the same process again", () => {
    const { viewer, machine, agents } = midTurn({
      replies: {
        "session/new"(_, agent) {
          agent.text("early-2", "hello");
          return { result: { sessionId: "early-2" } };
        },
      },
    });
    viewer.done({ verb: "close", session: "work" });
    viewer.prompt("again", { session: "work" });
    machine.until(() => agents.latest.asked("session/prompt").length === 2);
    expect(agents.latest.asked("session/resume")).toHaveLength(1);
    expect(viewer.of("update")).toHaveLength(1);
  });

  test("[AC1] they are kept within bounds: 32 of a session, 64 sessions", () => {
    const { viewer } = midTurn({
      replies: {
        "session/new"(_, agent) {
          for (let number = 0; number < 40; number++) agent.text("many", `${number}`);
          for (let other = 0; other < 63; other++) agent.text(`other-${other}`, "x");
          return { result: { sessionId: "many" } };
        },
      },
    });
    expect(viewer.of("update").length).toBeGreaterThan(0);
    const text = viewer.of("update").map(({ data }) => (data["update"] as { content: { text: string } }).content.text);
    expect(text.join("")).toBe(Array.from({ length: 32 }, (_, number) => number).join(""));
    const forgotten = midTurn({
      replies: {
        "session/new"(_, agent) {
          agent.text("first", "x");
          for (let other = 0; other < 64; other++) agent.text(`other-${other}`, "x");
          return { result: { sessionId: "first" } };
        },
      },
    });
    expect(forgotten.viewer.of("update")).toEqual([]);
  });
});

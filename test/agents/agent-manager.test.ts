// Does the manager keep one process per agent, tell a death once, and mend it? Each rule on a virtual clock.
import { describe, expect, test } from "bun:test";
import { Fault, messageOf } from "../../src/protocol/fault.ts";
import { initialized } from "./fake-agent.ts";
import { CLAUDE, openManager } from "./manager-world.ts";

const silent = { initialize: () => undefined };

describe("ensureAgent", () => {
  test("[AM1] an agent that is idle is spawned through starting, and connected", () => {
    const { manager, machine, agents, statuses } = openManager();
    expect(manager.getStatus(CLAUDE)).toBe("idle");
    const ensured = manager.ensureAgent(CLAUDE);
    expect(manager.getStatus(CLAUDE)).toBe("starting");
    const client = machine.wait(ensured);
    expect(client.initialized?.protocolVersion).toBe(1);
    expect(statuses).toEqual(["starting", "connected"]);
    expect(agents.all).toHaveLength(1);
  });

  test("[AM1] an agent that is connected gives the same client and no process more", () => {
    const { manager, machine, agents } = openManager();
    const first = machine.wait(manager.ensureAgent(CLAUDE));
    expect(machine.wait(manager.ensureAgent(CLAUDE))).toBe(first);
    expect(agents.all).toHaveLength(1);
  });

  test("[AM1] a hundred that ask while it starts get the same promise and one process", () => {
    const { manager, machine, agents } = openManager();
    const asked = Array.from({ length: 100 }, () => manager.ensureAgent(CLAUDE));
    expect(new Set(asked).size).toBe(1);
    machine.wait(Promise.all(asked));
    expect(agents.all).toHaveLength(1);
  });

  test("[AM1] agents of two kinds are two processes, and the end of one is nothing to the other", () => {
    const { manager, machine, agents } = openManager();
    const [claude, codex] = machine.wait(Promise.all([manager.ensureAgent(CLAUDE), manager.ensureAgent("codex")]));
    expect(claude).not.toBe(codex);
    agents.all[0]?.exit(1);
    machine.until(() => manager.getStatus(CLAUDE) === "reconnecting");
    expect(manager.getStatus("codex")).toBe("connected");
    expect(machine.wait(manager.ensureAgent("codex"))).toBe(codex);
  });

  test("[AM1] after shutdownAll it rejects and starts nothing, and so does reconnect", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    machine.wait(manager.shutdownAll());
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow("shutting down");
    expect(() => machine.wait(manager.reconnect(CLAUDE))).toThrow("shutting down");
    machine.advance(120_000);
    expect(agents.all).toHaveLength(1);
  });
});

describe("failures at the start", () => {
  test("[AM3] an agent that is not installed is told in these words, with its install line", () => {
    const { manager, machine, errors, statuses } = openManager({ missing: true });
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow("Could not start Claude Code");
    expect(errors).toEqual([
      {
        cliType: CLAUDE,
        message: "Could not start Claude Code. Check that it's installed.",
        detail: "Install it with: npm install -g @agentclientprotocol/claude-agent-acp",
      },
    ]);
    expect(statuses).toEqual(["starting", "disconnected"]);
    machine.advance(120_000);
    expect(manager.getStatus(CLAUDE)).toBe("disconnected");
  });

  test("[AM3] [KP9] a full disk is told as that, and not as a missing installation", () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    const spawn = () => {
      throw full;
    };
    const { manager, machine, errors } = openManager({}, { spawn });
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow(
      expect.objectContaining({ code: "DISK_FULL", exitCode: 1 }),
    );
    expect(errors[0]?.message).toBe("Could not start Claude Code: the disk is full; make room and try again");
  });

  test("[AM3] a handshake that is refused ends the process, with the last of its stderr in the detail", () => {
    const { manager, machine, agents, errors, statuses } = openManager({
      replies: {
        initialize(_, agent) {
          agent.stderr = ["first line", "cannot read ~/.claude"];
          return { error: { code: -32603, message: "No way" } };
        },
      },
    });
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow("Could not connect to Claude Code");
    expect(errors.map(({ message }) => message)).toEqual(["Could not connect to Claude Code"]);
    expect(errors[0]?.detail).toBe("No way\nfirst line\ncannot read ~/.claude");
    expect(statuses).toEqual(["starting", "disconnected"]);
    machine.until(() => !agents.latest.alive);
    expect(agents.latest.done[0]).toBe("EOF");
  });

  test.each([
    ["no object", { result: "hello" }],
    ["no version", { result: { agentCapabilities: {} } }],
    ["a version that is not ours", { result: { protocolVersion: 2 } }],
  ])("[AM3] an answer to the handshake that is %s fails it", (_, reply) => {
    const { manager, machine, errors, agents } = openManager({ replies: { initialize: () => reply } });
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow("Could not connect to Claude Code");
    expect(errors).toHaveLength(1);
    machine.until(() => !agents.latest.alive);
  });

  test("[AM3] an adapter that never answers initialize fails after 30 s, not before", () => {
    const { manager, machine, agents, errors } = openManager({ replies: silent });
    const ensured = manager.ensureAgent(CLAUDE).catch(messageOf);
    machine.advance(29_999);
    expect(manager.getStatus(CLAUDE)).toBe("starting");
    machine.advance(1);
    expect(machine.wait(ensured)).toContain("Could not connect to Claude Code");
    expect(errors[0]?.detail).toContain('No answer to "initialize" within 30000 ms');
    machine.until(() => !agents.latest.alive);
  });

  test("[AM3] a process that exits during the handshake fails it at once", () => {
    const { manager, machine, agents, errors } = openManager({ replies: silent });
    const ensured = manager.ensureAgent(CLAUDE);
    machine.advance(1_000);
    agents.latest.stderr = ["SyntaxError: no such thing"];
    agents.latest.exit(3);
    expect(() => machine.wait(ensured, 0)).toThrow("Could not connect to Claude Code");
    expect(errors[0]?.detail).toBe("It exited with code 3 during the handshake\nSyntaxError: no such thing");
    expect(manager.getStatus(CLAUDE)).toBe("disconnected");
  });

  test("[AM3] a process that cannot be started for another reason is a failure as well, and can be tried again", () => {
    const { manager, machine, agents, errors } = openManager(
      {},
      {
        spawn(command, events) {
          if (agents.options.missing) throw new Error("EACCES: permission denied, posix_spawn");
          return agents.spawn(command, events);
        },
      },
    );
    agents.options = { missing: true };
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow("Could not start Claude Code");
    expect(errors[0]?.detail).toContain("EACCES");
    expect(manager.getStatus(CLAUDE)).toBe("disconnected");
    agents.options = {};
    machine.wait(manager.ensureAgent(CLAUDE));
    expect(manager.getStatus(CLAUDE)).toBe("connected");
  });

  test("[AM3] after a failure the next that ask start it anew", () => {
    const { manager, machine, agents } = openManager({ missing: true });
    expect(() => machine.wait(manager.ensureAgent(CLAUDE))).toThrow(Fault);
    agents.options = { replies: { initialize: () => initialized() } };
    machine.wait(manager.ensureAgent(CLAUDE));
    expect(manager.getStatus(CLAUDE)).toBe("connected");
  });
});

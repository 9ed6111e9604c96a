// Does the manager do the ten things that the seed asks of it? One test each, in the seed's order and words.
import { describe, expect, test } from "bun:test";
import { messageOf } from "../../src/protocol/fault.ts";
import { CLAUDE, openManager } from "./manager-world.ts";
import { END_TURN, midTurn } from "./service-world.ts";

describe("the seed's AgentManager", () => {
  test("[AM1] 1: spawns the agent on the first ensureAgent call (idle → starting → connected)", () => {
    const { manager, machine, agents, statuses } = openManager();
    expect([manager.getStatus(CLAUDE), agents.all.length]).toEqual(["idle", 0]);
    machine.wait(manager.ensureAgent(CLAUDE));
    expect([statuses, agents.all.length]).toEqual([["starting", "connected"], 1]);
  });

  test("[AM1] 2: reuses the client on later ensureAgent calls", () => {
    const { manager, machine, agents } = openManager();
    const clients = [1, 2, 3].map(() => machine.wait(manager.ensureAgent(CLAUDE)));
    expect(new Set(clients).size).toBe(1);
    expect(agents.all).toHaveLength(1);
  });

  test("[AM4] 3: goes to disconnected when the process exits", () => {
    const { manager, machine, agents, statuses } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    agents.latest.exit(1);
    machine.advance(0);
    expect(statuses[2]).toBe("disconnected");
    expect(manager.current(CLAUDE)).toBeUndefined();
  });

  test("[AM4] 4: tries again with exponential backoff, up to five times", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    agents.options = { missing: false, replies: { initialize: () => ({ error: { code: 1, message: "no" } }) } };
    const starts: number[] = [];
    let before = machine.now;
    agents.latest.exit(1);
    for (let attempt = 2; attempt <= 6; attempt++) {
      machine.until(() => agents.all.length === attempt);
      starts.push(machine.now - before);
      before = machine.now;
    }
    expect(starts).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    machine.advance(300_000);
    expect([agents.all.length, manager.getStatus(CLAUDE)]).toEqual([6, "disconnected"]);
  });

  test("[AM6] 5: a manual reconnect sets the attempts back and spawns a new process", () => {
    const { manager, machine, agents, statuses } = openManager({ missing: true });
    machine.wait(manager.ensureAgent(CLAUDE).catch(messageOf));
    agents.options = {};
    machine.wait(manager.reconnect(CLAUDE));
    expect(statuses.slice(-2)).toEqual(["reconnecting", "connected"]);
    agents.latest.exit(1);
    const from = machine.now;
    machine.until(() => agents.all.length === 2);
    expect(machine.now - from).toBe(1_000);
  });

  test("[AM3] 6: a command that is not there is told as: check that it's installed", () => {
    const { manager, machine, errors } = openManager({ missing: true });
    machine.wait(manager.ensureAgent("codex").catch(messageOf));
    expect(errors[0]).toMatchObject({
      cliType: "codex",
      message: "Could not start Codex. Check that it's installed.",
    });
  });

  test("[AM3] 7: a handshake that fails is told as: could not connect", () => {
    const { manager, machine, errors } = openManager({
      replies: { initialize: () => ({ error: { code: -32603, message: "bad" } }) },
    });
    machine.wait(manager.ensureAgent("codex").catch(messageOf));
    expect(errors[0]).toMatchObject({ cliType: "codex", message: "Could not connect to Codex" });
  });

  test("[AM7] 8: shuts all agents down gracefully: stdin closed, time to leave, then by force", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(Promise.all([manager.ensureAgent(CLAUDE), manager.ensureAgent("codex")]));
    agents.options = { ignores: ["EOF", "SIGTERM"] };
    machine.wait(manager.shutdownAll());
    for (const { done, alive } of agents.all) {
      expect(alive).toBe(false);
      expect(done.filter((what) => what !== "sweep").slice(0, 3)).toEqual(["EOF", "SIGTERM", "SIGKILL"]);
    }
    expect([manager.getStatus(CLAUDE), manager.getStatus("codex")]).toEqual(["idle", "idle"]);
  });

  test("[AM1] [AM4] [AM7] 9: tells every transition, with the agent's name, and none twice", () => {
    const { manager, machine, agents, told } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 2 && manager.getStatus(CLAUDE) === "connected");
    machine.wait(manager.shutdownAll());
    expect(told).toEqual(
      ["starting", "connected", "disconnected", "reconnecting", "connected", "idle"].map((status) => ({
        cliType: CLAUDE,
        status,
      })),
    );
  });

  test("[AM9] 10: an agent's state does not depend on any client's connection", () => {
    const { viewer, agents, machine, service, client, acpId } = midTurn();
    viewer.leave();
    agents.latest.text(acpId, "while nobody listens");
    agents.latest.answer("session/prompt", END_TURN);
    machine.advance(60_000);
    expect([agents.latest.alive, service.infos()[0]?.clients]).toEqual([true, 0]);
    const late = client("late");
    late.attach("work");
    machine.advance(0);
    expect(late.types()).toEqual(expect.arrayContaining(["update", "turn-ended"]));
    expect(agents.all).toHaveLength(1);
  });
});

// Did we take over any of the eleven defects of an earlier implementation? One test each, in the order of the table.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../src/protocol/fault.ts";
import { checkLine } from "./acp-wire.ts";
import { initialized } from "./fake-agent.ts";
import { CLAUDE, openManager } from "./manager-world.ts";
import { isAlive, runShell, until } from "./real-agent.ts";
import { END_TURN, endTurn, midTurn } from "./service-world.ts";

const OPTIONS = [
  { optionId: "proceed_once", name: "Yes", kind: "allow_once" },
  { optionId: "42", name: "No", kind: "reject_once" },
];

const ask = ({ agents, acpId }: ReturnType<typeof midTurn>, id: string | number): void =>
  agents.latest.say({
    jsonrpc: "2.0",
    id,
    method: "session/request_permission",
    params: { sessionId: acpId, toolCall: { toolCallId: "t", kind: "edit" }, options: OPTIONS },
  });

describe("defects of liminal-builder", () => {
  test("[AC4] 1: a permission is answered as the schema says, never with approved: true", () => {
    const world = midTurn({}, { policy: "allow" });
    ask(world, 1);
    world.machine.advance(0);
    const line = world.agents.latest.lines.at(-1) ?? "";
    expect(checkLine(line)).toBe("permission");
    expect(JSON.parse(line).result).toEqual({ outcome: { outcome: "selected", optionId: "proceed_once" } });
  });

  test("[AC1] 2: what we advertise has the right names, and we answer for it: no files, no terminals", () => {
    const { agents } = midTurn();
    const capabilities = agents.latest.asked("initialize")[0]?.params?.["clientCapabilities"];
    expect(capabilities).toEqual({ fs: { readTextFile: false, writeTextFile: false }, terminal: false });
  });

  test("[AC1] 3: requests with string ids are answered under them, nobody hangs", () => {
    const world = midTurn({}, { policy: "deny" });
    ask(world, "0b1c-uuid");
    world.machine.advance(0);
    expect(world.agents.latest.heard.at(-1)).toMatchObject({
      id: "0b1c-uuid",
      result: { outcome: { optionId: "42" } },
    });
  });

  test("[AC1] [AM4] 4: a line that is no JSON is skipped: no restart, no orphan, the turn goes on", () => {
    const world = midTurn();
    world.agents.latest.say("Debugger listening on ws://127.0.0.1:9229/");
    world.machine.advance(60_000);
    expect(world.agents.all).toHaveLength(1);
    endTurn(world, world.viewer);
    expect(world.viewer.of("turn-ended")[0]?.data["stopReason"]).toBe("end_turn");
  });

  test("[AM8] 5: stderr is read: an agent that fills the pipe many times over still answers", async () => {
    await using agent = runShell("yes line | head -c 3000000 >&2; echo answered");
    await agent.process.exited;
    expect(agent.lines).toEqual(["answered"]);
    expect(agent.process.stderr()).toHaveLength(200);
  });

  test("[AM5] 6: an agent that crashes after each handshake is given up after five attempts", () => {
    const { manager, machine, agents } = openManager();
    machine.wait(manager.ensureAgent(CLAUDE));
    for (let death = 0; death < 20 && manager.getStatus(CLAUDE) === "connected"; death++) {
      agents.latest.exit(1);
      machine.advance(9_999);
      machine.until(() => ["connected", "disconnected"].includes(manager.getStatus(CLAUDE)));
    }
    expect([agents.all.length, manager.getStatus(CLAUDE)]).toEqual([6, "disconnected"]);
  });

  test("[AM3] [AC3] 7: nothing is asked without a limit but a turn: a hung adapter is not starting for ever", () => {
    const { manager, machine } = openManager({ replies: { initialize: () => undefined } });
    const failed = manager.ensureAgent(CLAUDE).catch(messageOf);
    machine.advance(30_000);
    expect(machine.wait(failed)).toContain("Could not connect");
    const stuck = midTurn({ replies: { "session/resume": () => undefined, "session/load": () => undefined } });
    stuck.agents.latest.exit(1);
    stuck.viewer.prompt("second", { session: "work" });
    stuck.machine.until(() => stuck.viewer.of("context-lost").length === 1, 200_000);
    stuck.machine.until(() => stuck.agents.latest.asked("session/prompt").length === 1);
  });

  test("[SE7] [SE3] 8: after a restart sessions are resumed, the turn is told as lost, and nothing said is dropped", () => {
    const { viewer, agents, machine, acpId, client } = midTurn();
    viewer.leave();
    agents.latest.text(acpId, "said to nobody");
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 2 && agents.latest.asked("initialize").length === 1);
    machine.advance(0);
    const late = client("late");
    late.attach("work");
    machine.until(() => late.of("restored").length === 1);
    expect(JSON.stringify(late.of("update"))).toContain("said to nobody");
    expect(late.of("turn-ended")[0]?.data["stopReason"]).toBe("lost");
  });

  test("[AM7] 9: a signal goes to the whole group: a native child behind a launcher is no orphan", async () => {
    await using agent = runShell("sleep 1000 & echo $!; wait");
    await until(() => agent.lines.length === 1);
    const native = Number(agent.lines[0]);
    agent.process.signalGroup("SIGTERM");
    await until(() => !isAlive(native));
    expect((await agent.process.exited).signal).toBe("SIGTERM");
  });

  test("[SE4] [SE2] [AM2] 10: nothing is approved without a policy, prompts queue, and commands are a table", () => {
    const world = midTurn({}, { policy: "deny" });
    ask(world, 5);
    world.viewer.prompt("second", { session: "work" });
    world.machine.advance(0);
    expect(world.agents.latest.heard.find(({ id, result }) => id === 5 && result)?.result).toMatchObject({
      outcome: { optionId: "42" },
    });
    expect(world.agents.latest.asked("session/prompt")).toHaveLength(1);
    const manager = readFileSync(join(import.meta.dir, "../../src/agents/agent-manager.ts"), "utf8");
    expect(manager).not.toMatch(/claude|codex|acp"/i);
  });

  test("[SE7] 11: resume and load are two things: a resume is no replay, and errors are told by code, not by text", () => {
    const capable = (capabilities: unknown) => ({
      replies: { initialize: () => initialized(capabilities), "session/prompt": () => END_TURN },
    });
    for (const [capabilities, method] of [
      [{ sessionCapabilities: { resume: {} } }, "session/resume"],
      [{ loadSession: true }, "session/load"],
    ] as const) {
      const { agents, viewer, machine, acpId } = midTurn(capable(capabilities));
      agents.latest.exit(1);
      machine.until(() => viewer.of("restored").length === 1);
      agents.latest.text(acpId, "after the restore");
      machine.advance(0);
      const replays = method === "session/load";
      expect(agents.latest.asked(replays ? "session/resume" : "session/load")).toEqual([]);
      expect(viewer.of("update")).toHaveLength(replays ? 0 : 1);
    }
  });
});

// Has a session its mode and options again after its agent died? What the agent told last is set again, and no more.
import { describe, expect, test } from "bun:test";
import { initialized } from "./fake-agent.ts";
import { endTurn, midTurn, type ServiceOptions } from "./service-world.ts";

const capable = (more: ServiceOptions["replies"] = {}): ServiceOptions => ({
  replies: { initialize: () => initialized({ sessionCapabilities: { resume: {} } }), ...more },
});

/** The agent dies; the next prompt brings the next process. */
function dieAndGoOn({ agents, viewer, machine }: ReturnType<typeof midTurn>): void {
  agents.latest.exit(1);
  machine.until(() => viewer.of("turn-ended").length === 1);
  viewer.prompt("second", { session: "work" });
  machine.until(() => agents.all.length === 2 && agents.latest.asked("session/prompt").length === 1);
}

describe("mode and options", () => {
  const settings = (
    agent: { update(sessionId: string, update: Record<string, unknown>): void },
    acpId: string,
  ): void => {
    agent.update(acpId, { sessionUpdate: "current_mode_update", currentModeId: "plan" });
    const options = [
      { id: "effort", type: "select", currentValue: "high" },
      { id: "fast", type: "boolean", currentValue: true },
    ];
    agent.update(acpId, { sessionUpdate: "config_option_update", configOptions: options });
  };
  const restoredAs = {
    modes: { currentModeId: "code", availableModes: [] },
    configOptions: [
      { id: "effort", currentValue: "low" },
      { id: "fast", currentValue: true },
    ],
  };

  test("[SE7] are set again after the restore, where they are not what they were", () => {
    const world = midTurn(capable({ "session/resume": () => ({ result: restoredAs }) }));
    settings(world.agents.latest, world.acpId);
    dieAndGoOn(world);
    const { agents, acpId } = world;
    expect(agents.latest.asked("session/set_mode").map(({ params }) => params)).toEqual([
      { sessionId: acpId, modeId: "plan" },
    ]);
    expect(agents.latest.asked("session/set_config_option").map(({ params }) => params)).toEqual([
      { sessionId: acpId, configId: "effort", value: "high" },
    ]);
    const order = agents.latest.heard.map(({ method }) => method);
    expect(order.indexOf("session/set_mode")).toBeLessThan(order.indexOf("session/prompt"));
  });

  test("[SE7] are left alone where they are what they were", () => {
    const same = {
      modes: { currentModeId: "plan" },
      configOptions: [
        { id: "effort", currentValue: "high" },
        { id: "fast", currentValue: true },
      ],
    };
    const world = midTurn(capable({ "session/resume": () => ({ result: same }) }));
    settings(world.agents.latest, world.acpId);
    dieAndGoOn(world);
    expect(world.agents.latest.heard.filter(({ method }) => method?.startsWith("session/set"))).toEqual([]);
  });

  test("[SE7] are known to the next host too, from the journal", () => {
    const world = midTurn(capable({ "session/resume": () => ({ result: restoredAs }) }));
    settings(world.agents.latest, world.acpId);
    endTurn(world, world.viewer);
    const next = world.nextHost();
    next.client().prompt("second", { session: "work" });
    next.machine.until(() => next.agents.all[0]?.asked("session/prompt").length === 1);
    expect(next.agents.latest.asked("session/set_mode")).toHaveLength(1);
  });

  test("[SE7] one that the agent refuses does not hold up the session, and is told", () => {
    const world = midTurn(
      capable({ "session/set_mode": () => ({ error: { code: -32602, message: "No such mode" } }) }),
    );
    settings(world.agents.latest, world.acpId);
    dieAndGoOn(world);
    expect(world.viewer.of("restored")).toHaveLength(1);
    expect(JSON.stringify(world.viewer.of("settings-lost"))).toContain("No such mode");
  });
});

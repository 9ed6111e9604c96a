// What does the death of an agent cost a session? The turn that ran, told at once; its history and its context stay.
import { describe, expect, test } from "bun:test";
import { initialized } from "./fake-agent.ts";
import { END_TURN, endTurn, midTurn, openService, type ServiceOptions, type TestClient } from "./service-world.ts";

const RESUME = { sessionCapabilities: { resume: {} } };
const LOAD = { loadSession: true };
const capable = (capabilities: unknown, more: ServiceOptions["replies"] = {}): ServiceOptions => ({
  replies: { initialize: () => initialized(capabilities), ...more },
});
type World = ReturnType<typeof midTurn>;

/** The agent dies; the next prompt brings the next process. */
function dieAndGoOn(world: World, text = "second"): void {
  const { agents, viewer, machine } = world;
  agents.latest.exit(1);
  machine.until(() => viewer.of("turn-ended").length === 1);
  viewer.prompt(text, { session: "work" });
  machine.until(() => agents.all.length === 2 && agents.latest.asked("session/prompt").length === 1);
}

const outcome = (client: TestClient) => client.of("turn-ended").at(-1)?.data;

describe("the turn that ran", () => {
  test("[SE7] [KP6] an end that nobody saw, since its keeper had been killed before, is told as that", () => {
    const { agents, viewer, machine } = midTurn();
    agents.latest.exit(null, null);
    machine.advance(0);
    expect(outcome(viewer)?.["message"]).toBe("Claude Code exited, and nobody saw how; the outcome is unknown");
  });

  test("[SE7] ends as lost in the same tick as the exit, with an unknown outcome and the code for exit 5", () => {
    const { agents, viewer, machine, acpId } = midTurn();
    agents.latest.text(acpId, "half a sen");
    agents.latest.exit(null, "SIGKILL");
    const at = machine.now;
    machine.advance(0);
    expect(machine.now).toBe(at);
    expect(outcome(viewer)).toMatchObject({
      stopReason: "lost",
      code: "AGENT_LOST",
      message: "Claude Code exited with signal SIGKILL; the outcome is unknown",
    });
    expect(viewer.types().slice(-3)).toEqual(["update", "agent-exited", "turn-ended"]);
    expect(viewer.of("agent-exited")[0]?.data).toMatchObject({ code: null, signal: "SIGKILL" });
  });

  test("[CM10] [SE7] an agent that dies while the session is opened has not got the prompt, and that is said", () => {
    const die = (_: unknown, agent: { exit(code: number): void }) => void agent.exit(1);
    const world = openService({ replies: { initialize: () => initialized(), "session/new": die as never } });
    const client = world.client();
    client.prompt("hello", { session: "work" });
    client.attach("work");
    world.machine.until(() => client.of("turn-ended").length === 1);
    const { code, message } = outcome(client) ?? {};
    expect([code, message]).toEqual(["AGENT_FAILED", "Claude Code exited with code 1; the prompt was not sent"]);
  });

  test("[SE7] what had arrived stays in the journal, with where it came from", () => {
    const { agents, machine, acpId, journal } = midTurn();
    agents.latest.text(acpId, "half a sen");
    agents.latest.exit(1);
    machine.advance(0);
    const [update] = journal("work").filter(({ type }) => type === "update");
    expect(update?.data).toEqual({
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "half a sen" } },
    });
    expect(update?.["source"]).toEqual({ run: expect.any(String), offset: expect.any(Number) });
  });

  test("[SE7] is never sent again by itself, and what was queued behind it runs on the next process", () => {
    const world = midTurn();
    const { viewer, agents, machine } = world;
    viewer.prompt("queued", { session: "work" });
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 2 && agents.latest.asked("session/prompt").length === 1);
    machine.advance(60_000);
    const sent = agents.all.map((agent) => agent.asked("session/prompt").map(({ params }) => params?.["prompt"]));
    expect(sent).toEqual([[[{ type: "text", text: "first" }]], [[{ type: "text", text: "queued" }]]]);
  });

  test("[AM8] [SE7] the last lines of its stderr are told with its exit", () => {
    const { agents, viewer, machine } = midTurn();
    agents.latest.stderr = ["FATAL ERROR: Reached heap limit", "Aborted"];
    agents.latest.exit(134);
    machine.advance(0);
    expect(viewer.of("agent-exited")[0]?.data["detail"]).toBe("FATAL ERROR: Reached heap limit\nAborted");
  });

  test("[SE7] every session of the dead process is told, and sessions of another agent are not", () => {
    const world = midTurn();
    const { viewer, agents, machine } = world;
    const [codex, other] = [world.client("codex"), world.client("other")];
    codex.attach(codex.prompt("x", { agent: "codex", session: "c" }).session);
    other.attach(other.prompt("y", { session: "o" }).session);
    machine.until(() => agents.all.length === 2 && agents.all[0]?.asked("session/prompt").length === 2);
    agents.all[0]?.exit(1);
    machine.advance(0);
    expect([outcome(viewer)?.["stopReason"], outcome(other)?.["stopReason"], outcome(codex)]).toEqual([
      "lost",
      "lost",
      undefined,
    ]);
  });
});

describe("the session", () => {
  test("[SE7] is restored by session/resume where the agent can, with its cwd and servers sent again", () => {
    const world = midTurn(capable({ ...LOAD, ...RESUME }));
    dieAndGoOn(world);
    const { agents, acpId, viewer } = world;
    expect(agents.latest.asked("session/resume").map(({ params }) => params)).toEqual([
      { sessionId: acpId, cwd: "/work", mcpServers: [] },
    ]);
    expect(agents.latest.asked("session/load")).toEqual([]);
    expect(agents.latest.asked("session/new")).toEqual([]);
    expect(viewer.of("restored").map(({ data }) => data["how"])).toEqual(["resume"]);
    expect(agents.latest.asked("session/prompt")[0]?.params?.["sessionId"]).toBe(acpId);
  });

  test("[SE7] is restored at the reconnect already, before anybody asks", () => {
    const { agents, viewer, machine } = midTurn(capable(RESUME));
    agents.latest.exit(1);
    machine.until(() => viewer.of("restored").length === 1);
    expect(agents.latest.asked("session/resume")).toHaveLength(1);
    viewer.prompt("next", { session: "work" });
    machine.until(() => agents.latest.asked("session/prompt").length === 1);
    expect(agents.latest.asked("session/resume")).toHaveLength(1);
  });

  test("[SE7] else by session/load: its replay is left out until the next prompt is written, also what comes late", () => {
    const world = midTurn(
      capable(LOAD, {
        "session/load"({ sessionId }, agent) {
          agent.text(String(sessionId), "replayed before the answer");
          return { result: null };
        },
      }),
    );
    const { agents, viewer, machine, acpId } = world;
    agents.latest.text(acpId, "live ");
    agents.latest.exit(1);
    machine.until(() => viewer.of("restored").length === 1);
    expect(viewer.of("restored")[0]?.data["how"]).toBe("load");
    agents.latest.text(acpId, "replayed after the answer");
    machine.advance(5_000);
    viewer.prompt("second", { session: "work" });
    machine.until(() => agents.latest.asked("session/prompt").length === 1);
    agents.latest.text(acpId, "live again");
    machine.advance(0);
    const said = viewer.of("update").map(({ data }) => (data["update"] as { content: { text: string } }).content.text);
    expect(said).toEqual(["live ", "live again"]);
  });

  test("[SE7] a resume that fails is followed by a load", () => {
    const world = midTurn(
      capable({ ...LOAD, ...RESUME }, { "session/resume": () => ({ error: { code: -32601, message: "No" } }) }),
    );
    dieAndGoOn(world);
    expect(world.viewer.of("restored").map(({ data }) => data["how"])).toEqual(["load"]);
  });

  test.each([
    ["can do neither", {}, {}, "can neither resume nor load"],
    ["knows it no more", { ...LOAD, ...RESUME }, { code: -32002, message: "Session not found" }, "Session not found"],
    [
      "knows it no more, in other words",
      LOAD,
      { code: -32603, message: "No previous sessions" },
      "No previous sessions",
    ],
  ])("[SE7] where the agent %s the context is told as gone, before the fresh session begins", (_, can, error, why) => {
    const fail = () => ({ error: error as { code: number; message: string } });
    const world = midTurn(capable(can, { "session/resume": fail, "session/load": fail }));
    dieAndGoOn(world);
    const { viewer, agents, acpId } = world;
    expect(viewer.of("context-lost")[0]?.data["message"]).toContain(`The earlier conversation is gone: `);
    expect(viewer.of("context-lost")[0]?.data["message"]).toContain(why);
    const types = viewer.types();
    expect(types.indexOf("context-lost")).toBeLessThan(types.lastIndexOf("session-opened"));
    expect(agents.latest.asked("session/prompt")[0]?.params?.["sessionId"]).not.toBe(acpId);
    agents.latest.text(String(agents.latest.asked("session/prompt")[0]?.params?.["sessionId"]), "fresh");
    endTurn(world, viewer);
    expect(viewer.of("update")).toHaveLength(1);
  });

  test("[SE7] a load that fails closes its window: what the fresh session says is heard, before any prompt", () => {
    const fail = () => ({ error: { code: -32002, message: "Session not found" } });
    const { agents, viewer, machine } = midTurn(capable(LOAD, { "session/load": fail }));
    agents.latest.exit(1);
    machine.until(() => viewer.of("session-opened").length === 2);
    const fresh = String(viewer.of("session-opened")[1]?.data["acpSessionId"]);
    agents.latest.update(fresh, { sessionUpdate: "available_commands_update", availableCommands: [] });
    machine.advance(0);
    expect(viewer.of("update")).toHaveLength(1);
  });

  test("[SE7] a death in the middle of the restore loses no context: the next process is asked again", () => {
    const world = midTurn(capable(RESUME, { "session/resume": () => undefined }));
    const { agents, viewer, machine, acpId } = world;
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 2 && agents.latest.asked("session/resume").length === 1);
    agents.options = capable(RESUME);
    agents.latest.exit(1);
    machine.until(() => agents.all.length === 3 && viewer.of("restored").length === 1);
    expect(viewer.of("context-lost")).toEqual([]);
    expect(agents.latest.asked("session/resume")[0]?.params?.["sessionId"]).toBe(acpId);
  });

  test("[SE7] [AM11] an agent that wants a login has not forgotten anything: after it the session is restored", () => {
    const refuse = () => ({ error: { code: -32000, message: "Authentication required" } });
    const world = midTurn(capable({ ...LOAD, ...RESUME }));
    const { agents, viewer, machine, acpId } = world;
    agents.options = capable(
      { ...LOAD, ...RESUME },
      { "session/resume": refuse, "session/load": refuse, "session/new": refuse },
    );
    agents.latest.exit(1);
    machine.advance(2_000);
    viewer.prompt("second", { session: "work" });
    machine.until(() => viewer.of("turn-ended").length === 2);
    expect(outcome(viewer)).toMatchObject({ stopReason: "error", code: "NOT_PERMITTED" });
    expect(viewer.of("context-lost")).toEqual([]);
    agents.options = { ...capable({ ...LOAD, ...RESUME }, { "session/prompt": () => END_TURN }) };
    viewer.prompt("third", { session: "work" });
    machine.until(() => viewer.of("turn-ended").length === 3);
    expect(outcome(viewer)?.["stopReason"]).toBe("end_turn");
    expect(agents.latest.asked("session/prompt").at(-1)?.params?.["sessionId"]).toBe(acpId);
  });
});

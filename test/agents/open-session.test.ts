// Can a session be had without a prompt? Opened, chosen in, given servers, and found again by the next host.
import { describe, expect, test } from "bun:test";
import { BUILT_IN } from "../../src/agents/definitions.ts";
import type { AgentRequest } from "../../src/protocol/agents.ts";
import { initialized } from "./fake-agent.ts";
import { ENV, endTurn, midTurn, openService, type ServiceOptions } from "./service-world.ts";

type Open = Extract<AgentRequest, { verb: "open" }>;

const open = (more: Partial<Open> = {}): Open => ({
  verb: "open",
  agent: "claude-code",
  session: "work",
  cwd: "/work",
  create: true,
  env: ENV,
  ...more,
});
const modes = { currentModeId: "code", availableModes: [{ id: "code" }, { id: "plan" }] };
const configOptions = [{ id: "effort", type: "select", currentValue: "low" }];
const offering: ServiceOptions = {
  replies: {
    "session/new": () => ({ result: { sessionId: "acp-x", modes, configOptions } }),
    "session/set_config_option": () => ({ result: { configOptions: [{ id: "effort", currentValue: "high" }] } }),
  },
};

describe("open", () => {
  test("[PX1] makes a session and opens it in its agent, with what the agent offers; asked again it is the same one", () => {
    const world = openService(offering);
    const client = world.client();
    const first = client.done(open());
    expect(first).toMatchObject({ session: "work", modes, configOptions, permissions: [] });
    expect(client.done(open())).toEqual(first);
    expect(world.agents.latest.asked("session/new")).toHaveLength(1);
  });

  test("[PX1] of one that is not there, of another agent or another directory is refused", async () => {
    const world = openService();
    const client = world.client();
    const refusal = (request: Open) => client.ask(request).catch((thrown) => thrown.code);
    expect(await refusal(open({ create: false }))).toBe("SESSION_NOT_FOUND");
    client.done(open());
    expect(await refusal(open({ cwd: "/other" }))).toBe("USAGE");
    expect(await refusal(open({ agent: "codex", create: false }))).toBe("USAGE");
    expect(await refusal(open({ agent: "nobody", session: "x" }))).toBe("AGENT_NOT_FOUND");
  });

  test("[PX1] one whose agent cannot be started is told, and is in nobody's way", async () => {
    const world = openService({ missing: true });
    const client = world.client();
    const failed = client.ask(open()).catch((thrown) => thrown.message);
    expect(world.machine.wait(failed)).toContain("Could not start Claude Code");
    expect(client.done<object[]>({ verb: "sessions" })).toEqual([]);
  });

  test("[PX1] a session that has its history is opened without its agent; what it offers, its title and its questions are known", () => {
    const world = midTurn(offering, { policy: "ask" });
    const { agents, acpId, viewer } = world;
    agents.latest.update(acpId, { sessionUpdate: "session_info_update", title: "About it" });
    const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
    agents.latest.say({
      jsonrpc: "2.0",
      id: 7,
      method: "session/request_permission",
      params: { sessionId: acpId, toolCall: { toolCallId: "t" }, options },
    });
    world.machine.until(() => viewer.of("permission-requested").length === 1);
    expect(viewer.done(open({ create: false }))).toMatchObject({
      modes,
      permissions: [{ toolCall: { toolCallId: "t" }, options }],
    });
    expect(world.service.infos()[0]).toMatchObject({ title: "About it" });
    const permissionId = String(viewer.of("permission-requested")[0]?.data["permissionId"]);
    viewer.done({ verb: "answer", session: "work", permissionId, optionId: null });
    expect(viewer.done(open({ create: false }))).toMatchObject({ permissions: [] });
    expect(agents.latest.heard.at(-1)).toMatchObject({ id: 7, result: { outcome: { outcome: "cancelled" } } });
    endTurn(world, viewer);
    const next = world.nextHost();
    expect(next.client().done(open({ create: false }))).toMatchObject({ modes, configOptions });
    expect(next.agents.all).toEqual([]);
  });
});

describe("set", () => {
  test("[PX1] [SE7] a mode and an option are set in the agent, told to all who watch, and known to the next host", () => {
    const world = openService(offering);
    const client = world.client();
    client.done(open());
    client.attach("work");
    client.done({ verb: "set", session: "work", modeId: "plan" });
    client.done({ verb: "set-option", session: "work", configId: "effort", value: "high" });
    expect(world.agents.latest.asked("session/set_mode")[0]?.params).toMatchObject({ modeId: "plan" });
    expect(client.of("update").map(({ data }) => data["update"])).toMatchObject([
      { sessionUpdate: "current_mode_update", currentModeId: "plan" },
      { sessionUpdate: "config_option_update" },
    ]);
    const opened = world
      .nextHost()
      .client()
      .done(open({ create: false }));
    expect(opened).toMatchObject({ modes: { currentModeId: "plan" }, configOptions: [{ currentValue: "high" }] });
  });

  test("[PX1] what the agent refuses is refused, and nothing is recorded", async () => {
    const world = openService({
      replies: {
        ...offering.replies,
        "session/set_mode": () => ({ error: { code: -32602, message: "No such mode" } }),
      },
    });
    const client = world.client();
    client.done(open());
    const refused = client.ask({ verb: "set", session: "work", modeId: "x" }).catch((thrown) => thrown.message);
    expect(world.machine.wait(refused)).toBe("No such mode");
    expect(world.journal("work").filter(({ type }) => type === "update")).toEqual([]);
  });
});

describe("MCP servers", () => {
  const own = { name: "own", command: "/own", args: [], env: [{ name: "KEY", value: "secret-of-it" }] };
  const configured = { name: "holdfast", command: "/holdfast", args: ["mcp"], env: [] };
  const withServers: ServiceOptions = {
    replies: { initialize: () => initialized({ sessionCapabilities: { resume: {} } }) },
    deps: { definitions: BUILT_IN.map((each) => ({ ...each, mcpServers: [configured] })) },
  };

  test("[PX1] an agent gets those of its definition and of the session, and again after a restore by the next host", () => {
    const world = openService(withServers);
    world.client().done(open({ mcpServers: [own] }));
    expect(world.agents.latest.asked("session/new")[0]?.params?.["mcpServers"]).toEqual([configured, own]);
    const next = world.nextHost();
    next.client().prompt("go on", { session: "work" });
    next.machine.until(() => next.agents.all[0]?.asked("session/resume").length === 1);
    expect(next.agents.latest.asked("session/resume")[0]?.params?.["mcpServers"]).toEqual([configured, own]);
  });

  test("[PX1] their secrets are no part of the journal; an editor that comes with others replaces them", () => {
    const world = openService(withServers);
    world.client().done(open({ mcpServers: [own] }));
    expect(JSON.stringify(world.journal("work"))).not.toContain("secret-of-it");
    world.client().done(open({ create: false, mcpServers: [] }));
    const next = world.nextHost();
    next.client().prompt("go on", { session: "work" });
    next.machine.until(() => next.agents.all[0]?.asked("session/resume").length === 1);
    expect(next.agents.latest.asked("session/resume")[0]?.params?.["mcpServers"]).toEqual([configured]);
  });
});

test("[SE3] read gives some events from any number on, and leaves no trace", () => {
  const world = midTurn();
  for (let at = 0; at < 5; at++) world.agents.latest.update(world.acpId, { sessionUpdate: "plan", entries: [at] });
  world.machine.until(() => world.viewer.of("update").length === 5);
  const before = world.journal("work").length;
  const reader = world.client("reader");
  const read = (after: number, count: number) =>
    reader.done<{ events: { seq: number }[]; lastSeq: number }>({ verb: "read", session: "work", after, count });
  expect(read(0, 3).events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(read(3, 1000).events.map(({ seq }) => seq)).toEqual(Array.from({ length: before - 3 }, (_, at) => at + 4));
  expect(read(before, 10)).toMatchObject({ events: [], lastSeq: before });
  expect(world.journal("work")).toHaveLength(before);
});

test("[SE1] who leaves a session that was closed meanwhile does not bring it back", () => {
  const world = midTurn();
  world.client("other").done({ verb: "close", session: "work" });
  expect(world.viewer.done({ verb: "detach", session: "work" })).toEqual({ detached: true });
  expect(world.viewer.done<object[]>({ verb: "sessions" })).toEqual([]);
  expect(world.viewer.done({ verb: "detach", session: "nobody" })).toEqual({ detached: false });
});

// What is a session to those who use it? A name, an agent and a place; found again, closed, pruned, and never mixed up.
import { describe, expect, test } from "bun:test";
import { AgentRequest } from "../../src/protocol/agents.ts";
import { Fault } from "../../src/protocol/fault.ts";
import { END_TURN, ENV, endTurn, midTurn, newPromptId, openService } from "./service-world.ts";

const faultOf = (run: () => unknown): Fault => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("It did not fail");
};

describe("names", () => {
  test("[SE1] a prompt without a session makes a fresh one with a name of its own each time", () => {
    const { client, journal, machine } = openService();
    const [one, two] = [client().prompt("a"), client().prompt("b")];
    expect(one.session).toMatch(/^claude-code-[0-9a-f]{8}$/);
    expect(two.session).not.toBe(one.session);
    machine.advance(0);
    expect(journal(one.session)[0]).toMatchObject({
      seq: 1,
      type: "session-created",
      data: { name: one.session, agent: "claude-code", cwd: "/work" },
    });
  });

  test("[SE1] a name is found again in the same agent and place, in another it is a usage fault: exit 2", () => {
    const world = midTurn();
    expect(world.viewer.prompt("again", { session: "work" }).session).toBe("work");
    for (const more of [{ agent: "codex" }, { cwd: "/elsewhere" }]) {
      const fault = faultOf(() => world.viewer.prompt("x", { session: "work", ...more }));
      expect([fault.code, fault.exitCode]).toEqual(["USAGE", 2]);
      expect(fault.message).toContain('belongs to claude-code in "/work"');
    }
  });

  test("[SE1] [SC5] names from the wire are names, never paths, and places are absolute", () => {
    const base = { verb: "prompt", agent: "demo", cwd: "/w", text: "", policy: "deny", promptId: "12345678", env: {} };
    const accepts = (more: object) => AgentRequest.safeParse({ ...base, ...more }).success;
    expect(["work", "a.b-c_d", "0", "x".repeat(64)].every((session) => accepts({ session }))).toBe(true);
    const bad = ["", ".", "../x", "a/b", "a b", "-x", ".hidden", "x".repeat(65), "a\n", "ü"];
    expect(bad.filter((session) => accepts({ session }))).toEqual([]);
    expect([accepts({ cwd: "relative" }), accepts({ cwd: "" }), accepts({ policy: "always" })]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("[SC5] an agent that nobody configured is not found, whatever command its name would be; nothing is started", () => {
    const { client, agents, machine } = openService();
    for (const agent of ["sh", "/bin/sh", "__proto__", "constructor", "rm -rf /"]) {
      const fault = faultOf(() => client().prompt("x", { agent }));
      expect([fault.code, fault.exitCode]).toEqual(["AGENT_NOT_FOUND", 3]);
      expect(faultOf(() => client().done({ verb: "reconnect", agent, env: {} })).code).toBe("AGENT_NOT_FOUND");
    }
    machine.advance(1_000);
    expect(agents.all).toEqual([]);
  });

  test("[SE1] a session that nobody knows is not found: exit 3", () => {
    const { client } = openService();
    const requests: AgentRequest[] = [
      { verb: "attach", session: "nobody", after: 0 },
      { verb: "cancel", session: "nobody" },
      { verb: "close", session: "nobody" },
    ];
    for (const request of requests) expect(faultOf(() => client().done(request)).exitCode).toBe(3);
  });

  test("[SE3] [SE7] a session is found again by the next host, with its history, and its turn is told as lost", () => {
    const world = midTurn();
    const { agents, machine, acpId } = world;
    agents.latest.text(acpId, "half");
    machine.advance(0);
    const next = world.nextHost();
    const client = next.client();
    client.attach("work");
    machine.advance(0);
    expect(client.types().filter((type) => !type.startsWith("idle"))).toEqual([
      "session-created",
      "prompt",
      "session-opened",
      "turn-started",
      "update",
      "turn-ended",
    ]);
    expect(client.of("turn-ended")[0]?.data).toMatchObject({ stopReason: "lost", code: "AGENT_LOST" });
    client.prompt("second", { session: "work" });
    machine.until(() => next.agents.all[0]?.asked("session/prompt").length === 1);
    expect(next.agents.latest.asked("session/resume")[0]?.params?.["sessionId"]).toBe(acpId);
  });

  test("[SE3] [SE7] a turn that ended is not told as lost by the next host, nor is a prompt that was taken back", () => {
    const world = midTurn();
    const promptId = newPromptId();
    world.viewer.prompt("second", { session: "work", promptId });
    world.viewer.done({ verb: "withdraw", session: "work", promptId });
    endTurn(world, world.viewer);
    const next = world.nextHost().client();
    next.attach("work");
    world.machine.advance(0);
    expect(next.of("turn-ended").map(({ data }) => data["stopReason"])).toEqual(["cancelled", "end_turn"]);
  });

  test("[SE3] a journal that was torn before its first line is the beginning of a new session", () => {
    const { client, machine, journal } = openService();
    machine.files.replace("/state/sessions/work.ndjson", "");
    expect(client().prompt("x", { session: "work" }).session).toBe("work");
    expect(journal("work")[0]).toMatchObject({ seq: 1, type: "session-created" });
  });
});

describe("the shelf", () => {
  test("[SE3] lists closed sessions by their first line; one that is no journal breaks nothing", () => {
    const world = midTurn();
    world.viewer.prompt("x", { session: "closed" });
    world.viewer.done({ verb: "close", session: "closed" });
    world.machine.files.replace("/state/sessions/broken.ndjson", "no journal\n");
    world.machine.files.replace("/state/sessions/empty.ndjson", "");
    expect(world.viewer.done<object[]>({ verb: "shelf" })).toEqual([
      {
        kind: "agent",
        name: "closed",
        agent: "claude-code",
        cwd: "/work",
        closed: true,
        title: "x",
        updatedAt: expect.any(String),
      },
    ]);
  });

  test("[SE3] [ID10] one that was stopped for idleness is pruned like any other; one that is watched or in use is not", () => {
    const world = openService({ replies: { "session/prompt": () => END_TURN } });
    const { machine } = world;
    const client = world.client();
    for (const session of ["stopped", "watched"]) client.prompt("x", { session });
    client.attach("watched");
    machine.advance(3_600_000);
    client.prompt("x", { session: "used" });
    machine.advance(1_000);
    const pruned = client.done({ verb: "prune", maxAgeMs: 0, maxBytes: 0 });
    expect(pruned).toMatchObject({ removed: ["stopped"] });
    expect(world.service.infos().map(({ name }) => name)).toEqual(["watched", "used"]);
    expect(() => client.attach("stopped")).toThrow("There is no agent session");
  });

  test("[SE3] a disk that cannot be read does not end the host that prunes, and it tries again the next day", () => {
    const { machine, service, process } = openService();
    let tries = 0;
    machine.files.list = () => {
      tries++;
      throw new Error("EACCES: permission denied, scandir");
    };
    machine.advance(3 * 24 * 3_600_000);
    expect(tries).toBe(3);
    expect(process.log.some(({ message }) => message.includes("EACCES"))).toBe(true);
    expect(service.infos()).toEqual([]);
  });
});

describe("attach", () => {
  test("[SE3] behind the last event is refused: numbers that were never given mean another history", () => {
    const world = midTurn();
    const { lastSeq } = world.service.infos()[0] ?? { lastSeq: 0 };
    expect(faultOf(() => world.viewer.done({ verb: "attach", session: "work", after: lastSeq + 1 })).code).toBe(
      "USAGE",
    );
    world.viewer.done({ verb: "attach", session: "work", after: lastSeq });
  });

  test("[SE1] several clients on one session each get all of it", () => {
    const world = midTurn();
    const clients = Array.from({ length: 5 }, (_, index) => world.client(`c${index}`));
    for (const client of clients) client.attach("work");
    world.agents.latest.text(world.acpId, "hello");
    endTurn(world, world.viewer);
    world.machine.advance(0);
    for (const client of clients) expect(client.heard).toEqual(world.viewer.heard);
    expect(world.service.infos()[0]).toMatchObject({ clients: 6, turn: "idle", kind: "agent" });
    clients[0]?.done({ verb: "detach", session: "work" });
    expect(world.service.infos()[0]?.clients).toBe(5);
  });
});

test("[SE3] a full disk: the prompt is refused with a clear fault, the agent goes on, and all it said is written later", () => {
  const world = midTurn();
  const { viewer, machine, agents, acpId, journal } = world;
  machine.files.failWrites(Number.POSITIVE_INFINITY);
  const refused = newPromptId();
  const fault = faultOf(() => viewer.prompt("second", { session: "work", promptId: refused }));
  expect([fault.code, fault.exitCode]).toEqual(["DISK_FULL", 1]);
  expect(fault.message).toContain("make room and try again");
  agents.latest.text(acpId, "said on a full disk");
  agents.latest.answer("session/prompt", END_TURN);
  machine.advance(30_000);
  expect(agents.latest.alive).toBe(true);
  expect(agents.latest.asked("session/prompt")).toHaveLength(1);
  expect(viewer.of("turn-ended")).toEqual([]);
  machine.files.failWrites(0);
  machine.advance(1_000);
  expect(viewer.types().slice(-2)).toEqual(["update", "turn-ended"]);
  expect(journal("work").some(({ data }) => data["promptId"] === refused)).toBe(false);
  viewer.prompt("third", { session: "work" });
  machine.until(() => agents.latest.asked("session/prompt").length === 2);
});

test("[SE3] on a full disk a new session is refused with a clear fault, and its name is free when there is room", () => {
  const { client, machine, agents, journal } = openService();
  machine.files.failWrites(Number.POSITIVE_INFINITY);
  const fault = faultOf(() => client().prompt("x", { session: "work" }));
  expect([fault.code, fault.exitCode]).toEqual(["DISK_FULL", 1]);
  expect(agents.all).toEqual([]);
  machine.files.failWrites(0);
  client().prompt("x", { session: "work", cwd: "/another" });
  expect(journal("work")[0]?.data).toMatchObject({ cwd: "/another" });
});

test("[AM10] a command that was refused gives no agent its environment", () => {
  const { viewer, agents, machine } = midTurn();
  agents.latest.exit(1);
  machine.advance(0);
  const refused = { session: "work", cwd: "/another", env: { ...ENV, ANTHROPIC_API_KEY: "sk-2" } };
  expect(faultOf(() => viewer.prompt("x", refused)).code).toBe("USAGE");
  machine.until(() => agents.all.length === 2);
  expect(agents.latest.command.env["ANTHROPIC_API_KEY"]).toBe("sk-1");
});

test("[AM10] the environment is that of the command that caused the start, as the definition lists it, kept for restarts", () => {
  const { client, agents, machine } = openService();
  client().prompt("x");
  machine.until(() => agents.all.length === 1);
  const expected = { PATH: "/bin", HOME: "/home/me", ANTHROPIC_API_KEY: "sk-1" };
  expect(agents.latest.command.env).toEqual(expected);
  client().prompt("y", { env: { ...ENV, ANTHROPIC_API_KEY: "sk-2" } });
  machine.advance(0);
  agents.latest.exit(1);
  machine.until(() => agents.all.length === 2);
  expect(agents.latest.command.env).toEqual(expected);
  expect(agents.latest.command.args.join(" ")).not.toContain("sk-");
  expect(JSON.parse(machine.files.texts.get("/state/claude-code.env.json") ?? "")).toEqual(expected);
});

test("[AC1] [SE3] [SE5] what stands beside an update is journaled and told with it, and is merged with nothing", () => {
  const { agents, acpId, viewer, journal, machine } = midTurn();
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } };
  const said = [{}, { _meta: { trace: "t1" } }, {}, {}];
  for (const beside of said) {
    agents.latest.say({ jsonrpc: "2.0", method: "session/update", params: { sessionId: acpId, update, ...beside } });
  }
  machine.advance(10);
  const kept = journal("work").filter(({ type }) => type === "update");
  expect(kept.map(({ data }) => data)).toEqual(said.map((beside) => ({ ...beside, update })));
  expect(viewer.of("update").flatMap(({ data }) => data["_meta"] ?? [])).toEqual([{ trace: "t1" }]);
});

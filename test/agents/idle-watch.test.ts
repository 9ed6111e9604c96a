// Does the watch begin, end and count as it should, and does it stop no more than it must?
import { describe, expect, test } from "bun:test";
import { CAPABILITIES, initialized } from "./fake-agent.ts";
import { AGENT, HOUR, type IdleWorld, MINUTE, openIdleWorld, SECOND } from "./idle-world.ts";

const stopped = (world: IdleWorld, session?: string) => world.record("idle-stopped", session)?.data;
const types = (world: IdleWorld) => world.records().map(({ type }) => type);
const methods = (world: IdleWorld) => world.agents.latest.heard.flatMap(({ method }) => method ?? []);

/** A session with a finished turn and one client. */
function finished(options: Parameters<typeof openIdleWorld>[0] = {}): IdleWorld {
  const world = openIdleWorld(options);
  world.prompt("one");
  world.attach();
  world.finish("one");
  return world;
}

describe("beginning and end", () => {
  test("[ID8] while a client is attached nothing runs down", () => {
    const world = finished();
    world.prompt("two");
    world.finish("two");
    world.machine.advance(24 * HOUR);
    expect(world.idle()).toEqual({ verdict: "kept", reason: "kept: 1 client attached", dueInMs: null });
    expect(stopped(world)).toBeUndefined();
  });

  test("[ID8] the last client leaves: the first check comes after the idle timeout, and stops it", () => {
    const world = finished();
    world.machine.advance(HOUR);
    world.leave();
    world.machine.advance(5 * MINUTE - 1);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(1);
    expect(stopped(world)).toMatchObject({ reason: "idle for 5 m", idleMs: 5 * MINUTE });
  });

  test("[ID8] one of two clients leaves: nothing begins", () => {
    const world = finished();
    world.attach("bob");
    world.leave("ann");
    world.machine.advance(HOUR);
    expect([stopped(world), types(world).includes("idle-started")]).toEqual([undefined, false]);
  });

  test("[ID8] a client that detaches has left as one whose connection ended", () => {
    const world = finished();
    world.ask("ann", { verb: "detach", session: "work" });
    world.machine.advance(5 * MINUTE);
    expect(stopped(world)).toBeDefined();
  });

  test("[ID8] leaving twice is leaving once: the idle time counts from the first", () => {
    const world = finished();
    world.leave();
    world.machine.advance(4 * MINUTE);
    world.leave();
    world.leave("a stranger");
    world.ask("ann", { verb: "detach", session: "work" });
    world.machine.advance(MINUTE);
    expect(stopped(world)).toBeDefined();
    expect(types(world).filter((type) => type === "idle-started")).toHaveLength(1);
  });

  test("[ID8] attaching clears it, and attaching twice too", () => {
    const world = finished();
    world.leave();
    world.machine.advance(4 * MINUTE);
    world.attach();
    world.attach();
    expect(types(world).filter((type) => type === "idle-ended")).toHaveLength(1);
    world.machine.advance(HOUR);
    expect(stopped(world)).toBeUndefined();
    world.leave();
    world.machine.advance(5 * MINUTE - 1);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(1);
    expect(stopped(world)).toMatchObject({ idleMs: 5 * MINUTE });
  });

  test("[ID8] a prompt whose client attaches at once leaves no trace of idleness", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.finish("one");
    world.attach();
    expect(types(world).filter((type) => type.startsWith("idle"))).toEqual([]);
  });

  test("[ID8] a client that asks and never attaches was there at that moment", () => {
    const world = finished();
    world.leave();
    world.machine.advance(4 * MINUTE);
    world.prompt("two", { clientId: "bob" });
    world.finish("two");
    expect(world.idle().reason).toBe("stops in 5 m: grace after turn");
    world.machine.advance(4 * MINUTE);
    expect(stopped(world)).toBeUndefined();
    world.machine.advance(MINUTE);
    expect(stopped(world)).toBeDefined();
  });
});

describe("counting", () => {
  test("[ID7] the sum stands in the journal, check by check", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.attach();
    world.leave();
    world.machine.advance(6 * MINUTE);
    const checks = world.records().filter(({ type }) => type === "idle-checked");
    expect(checks.map(({ data }) => data["idleMs"])).toEqual([5 * MINUTE, 5.5 * MINUTE, 6 * MINUTE]);
    expect(checks[0]?.data).toMatchObject({ delayMs: 30 * SECOND, guardDeferred: true });
  });

  test("[ID9] a prompt on its way to the agent counts as queued, and its turn begins when it is written", () => {
    const world = openIdleWorld({ agents: { replies: { "session/new": () => undefined } } });
    world.prompt("one");
    expect(world.idle().reason).toBe("kept: 1 prompt queued");
    world.machine.advance(SECOND);
    world.agents.latest.answer("session/new", { result: { sessionId: "acp" } });
    world.machine.advance(4 * SECOND);
    expect(world.idle().reason).toBe("kept: turn in progress, started 4 s ago");
  });

  test("[ID9] any line of the session is output: text, tool calls, questions", () => {
    const world = openIdleWorld();
    world.prompt("one");
    const reason = () => world.idle().reason;
    world.machine.advance(10 * SECOND);
    world.say("one");
    expect(reason()).toContain("last output 0 s ago");
    world.machine.advance(10 * SECOND);
    expect(reason()).toContain("last output 10 s ago");
    world.say("one", { sessionUpdate: "something new", _meta: {} });
    expect(reason()).toContain("last output 0 s ago");
    world.machine.advance(10 * SECOND);
    const params = { sessionId: world.record("session-opened")?.data["acpSessionId"], toolCall: { toolCallId: "t" } };
    world.agents.latest.say({ id: 9, method: "session/request_permission", params: { ...params, options: [] } });
    world.machine.advance(0);
    expect(reason()).toContain("last output 0 s ago");
  });

  test("[ID9] [GD1] an answer to its question is a line of the session: the wait for it was no silence", () => {
    const world = openIdleWorld();
    world.prompt("one", { policy: "ask" });
    world.attach();
    const sessionId = world.record("session-opened")?.data["acpSessionId"];
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const params = { sessionId, toolCall: { toolCallId: "t" }, options };
    world.agents.latest.say({ id: 9, method: "session/request_permission", params });
    world.machine.advance(20 * MINUTE);
    const permissionId = String(world.record("permission-requested")?.data["permissionId"]);
    world.ask("ann", { verb: "answer", session: "work", permissionId, optionId: "yes" });
    world.leave();
    world.machine.advance(6 * MINUTE);
    expect(world.idle().reason).toBe("kept: turn in progress, last output 6 m ago");
  });

  test("[ID6] without a cap a talking turn is kept for days", () => {
    const world = openIdleWorld({ limits: { maxIdleMs: 0 } });
    world.prompt("one");
    for (let hours = 0; hours < 48; hours++) {
      for (let part = 0; part < 12; part++) {
        world.machine.advance(5 * MINUTE);
        world.say("one");
      }
    }
    expect(world.idle()).toMatchObject({ verdict: "kept", capInMs: null });
  });
});

describe("stopping", () => {
  test("[ID10] a session is cancelled, then closed, and its process ended by the ladder", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.machine.advance(10 * MINUTE + 30 * SECOND);
    expect(stopped(world)).toBeDefined();
    expect(methods(world).slice(-2)).toEqual(["session/cancel", "session/close"]);
    expect(world.agents.latest.done[0]).toBe("EOF");
    expect(world.agents.running).toEqual([]);
  });

  test("[ID10] a turn that ignores both is given up, so that the session is free", () => {
    const world = openIdleWorld();
    world.prompt("busy", { session: "other" });
    world.attach("bob", "other");
    world.prompt("one");
    world.prompt("never sent");
    world.machine.advance(30 * MINUTE + 1);
    expect(stopped(world)).toBeDefined();
    expect(world.records().filter(({ type }) => type === "withdrawn")).toHaveLength(1);
    expect(world.record("turn-ended")?.data).toMatchObject({ stopReason: "cancelled" });
    expect(world.agents.running).toHaveLength(1);
    world.prompt("two");
    expect(methods(world).slice(-2)).toEqual(["session/resume", "session/prompt"]);
    world.finish("two");
    expect(world.record("turn-ended")?.data).toEqual({ promptId: "prompt two", stopReason: "end_turn" });
  });

  test("[ID10] an agent that closes no sessions keeps it open, and its process goes all the same", () => {
    const capabilities = { ...CAPABILITIES, sessionCapabilities: {} };
    const world = finished({ agents: { replies: { initialize: () => initialized(capabilities) } } });
    world.leave();
    world.machine.advance(5 * MINUTE);
    expect([methods(world).includes("session/close"), world.agents.running.length]).toEqual([false, 0]);
  });

  test("[ID10] while a neighbour is attached, working, pinned or not yet due the process stays", () => {
    const neighbours: Record<string, (world: IdleWorld) => void> = {
      attached: (world) => void world.attach("bob", "other"),
      working: (world) => world.prompt("two", { session: "other" }),
      pinned: (world) => void world.ask("bob", { verb: "keep", session: "other", forMs: null }),
      "not yet due"(world) {
        world.machine.advance(2 * MINUTE);
        world.attach("bob", "other");
        world.leave("bob");
      },
    };
    for (const [name, be] of Object.entries(neighbours)) {
      const world = finished();
      world.prompt("first", { session: "other" });
      world.finish("first");
      world.leave();
      be(world);
      world.machine.until(() => stopped(world) !== undefined, 6 * MINUTE);
      world.machine.advance(SECOND);
      expect([name, world.agents.running.length]).toEqual([name, 1]);
    }
  });

  test("[ID10] the session is resumable, and whoever comes back is told why and when", () => {
    const world = finished();
    const { lastSeq } = world.attach();
    world.leave();
    world.machine.advance(5 * MINUTE);
    const at = world.process.clock.iso();
    expect(world.idle()).toMatchObject({ verdict: "stopped", reason: `stopped at ${at}: idle for 5 m`, at });
    world.machine.advance(HOUR);
    world.attach("bob", "work", lastSeq);
    world.machine.advance(0);
    expect(world.seen("bob").at(-1)).toMatchObject({ type: "idle-stopped", data: { reason: "idle for 5 m", at } });
    world.prompt("two", { clientId: "bob" });
    expect(methods(world)).toEqual(["initialize", "session/resume", "session/prompt"]);
    expect(world.records().filter(({ type }) => type === "session-opened")).toHaveLength(1);
  });

  test("[ID10] a prompt while it is being closed opens it again, and is not lost", () => {
    const closing = { "session/close": () => undefined };
    const world = finished({ agents: { replies: closing } });
    world.leave();
    world.machine.advance(5 * MINUTE);
    expect(methods(world).at(-1)).toBe("session/close");
    world.prompt("two");
    expect(methods(world).slice(-3)).toEqual(["session/close", "session/resume", "session/prompt"]);
    world.machine.advance(20 * SECOND);
    expect(world.agents.running).toHaveLength(1);
    world.finish("two");
    expect(world.record("turn-ended")?.data).toEqual({ promptId: "prompt two", stopReason: "end_turn" });
  });

  test("[ID10] an agent that starts for one session leaves the stopped ones where they are", () => {
    const world = finished();
    world.leave();
    world.machine.advance(6 * MINUTE);
    world.prompt("two", { session: "other" });
    expect(methods(world)).toEqual(["initialize", "session/new", "session/prompt"]);
  });

  test("[ID10] a process whose last session was closed is warm for the idle timeout, then it goes", () => {
    const world = finished();
    world.ask("ann", { verb: "close", session: "work" });
    world.machine.advance(5 * MINUTE - 1);
    expect(world.agents.running).toHaveLength(1);
    world.machine.advance(SECOND);
    expect(world.agents.running).toEqual([]);
  });

  test("[ID10] what another agent does keeps no process of this one", () => {
    const world = finished();
    world.prompt("two", { session: "other", agent: "codex" });
    world.leave();
    world.machine.advance(6 * MINUTE);
    expect(world.agents.all.map(({ alive }) => alive)).toEqual([false, true]);
  });

  test("[ID10] a process that was started without any session goes after the idle timeout", () => {
    const world = openIdleWorld();
    world.ask("ann", { verb: "reconnect", agent: AGENT, env: {} });
    world.machine.advance(5 * MINUTE - SECOND);
    expect(world.agents.running).toHaveLength(1);
    world.machine.advance(2 * SECOND);
    expect(world.agents.running).toEqual([]);
  });

  test("[ID10] a tool call that outlived its turn is cancelled too, and forgotten with the session", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.say("one", { sessionUpdate: "tool_call", toolCallId: "t", title: "Tests", status: "in_progress" });
    world.finish("one");
    world.machine.advance(30 * MINUTE + 1);
    expect(methods(world).slice(-2)).toEqual(["session/cancel", "session/close"]);
    world.prompt("two");
    world.finish("two");
    expect(world.idle().verdict).toBe("stops");
  });

  test("[ID10] a prompt that was given up on its way to the agent is never sent", () => {
    const replies = { "session/new": () => undefined };
    const world = openIdleWorld({ limits: { maxIdleMs: 10 * SECOND }, agents: { replies } });
    world.prompt("busy", { session: "other" });
    world.attach("bob", "other");
    world.prompt("one");
    world.machine.advance(10 * SECOND + 1);
    expect(world.record("turn-ended")?.data).toMatchObject({ promptId: "prompt one", stopReason: "cancelled" });
    world.prompt("two");
    world.attach();
    world.agents.latest.answer("session/new", { result: { sessionId: "acp" } });
    world.machine.advance(SECOND);
    expect(world.agents.latest.asked("session/prompt").map(({ params }) => params?.["prompt"])).toEqual([
      [{ type: "text", text: "two" }],
    ]);
  });

  test("[AM9] an agent process lives on although the client that caused it is gone", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.attach();
    world.leave();
    world.machine.advance(9 * MINUTE);
    expect([world.agents.running.length, world.agents.latest.done]).toEqual([1, []]);
  });

  test("a session that only lay there is put back without a word in its journal", () => {
    const world = finished();
    world.leave();
    world.machine.advance(5 * MINUTE);
    const before = types(world).length;
    world.attach("bob");
    world.leave("bob");
    world.machine.advance(HOUR);
    expect([types(world).length, world.idle().verdict]).toEqual([before, "stopped"]);
  });

  test("a host that ends checks nothing any more", () => {
    const world = openIdleWorld();
    world.prompt("one");
    world.machine.wait(world.service.leave(false));
    world.machine.wait(world.service.end());
    world.machine.advance(HOUR);
    expect(world.idle().verdict).not.toBe("stopped");
    expect(world.agents.all).toHaveLength(1);
  });
});

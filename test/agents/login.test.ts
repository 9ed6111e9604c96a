// What does a person learn who is not logged in? Which agent, which ways it offers, what to run; and the login itself.
import { describe, expect, test } from "bun:test";
import { Fault } from "../../src/protocol/fault.ts";
import { initialized, type Replies } from "./fake-agent.ts";
import { ENV, endTurn, openService } from "./service-world.ts";

const METHODS = [
  { id: "console", name: "Anthropic Console" },
  { type: "terminal", id: "claude-login", name: "Claude Pro", args: ["/login"], env: { MODE: "login" } },
  { type: "env_var", id: "key", name: "API key", vars: [{ name: "ANTHROPIC_API_KEY" }] },
];
const REFUSE = () => ({ error: { code: -32000, message: "Authentication required" } });

const openWith = (replies: Replies, methods: unknown[] = METHODS) =>
  openService({ replies: { initialize: () => initialized(undefined, { authMethods: methods }), ...replies } });

describe("an agent that wants a login", () => {
  test.each(["session/new", "session/prompt"])(
    "[AM11] at %s it is told in these words, with its ways and what to run, as not permitted: exit 7",
    (method) => {
      const { client, machine } = openWith({ [method]: REFUSE });
      const one = client();
      one.attach(one.prompt("hello").session);
      machine.until(() => one.of("turn-ended").length === 1);
      const data = one.of("turn-ended")[0]?.data;
      expect(data).toMatchObject({ stopReason: "error", code: "NOT_PERMITTED" });
      const message = String(data?.["message"]);
      expect(message).toStartWith("Claude Code needs a login (Authentication required)");
      expect(message).toContain("console (Anthropic Console), claude-login (Claude Pro)");
      expect(message).toEndWith("run: holdfast login claude-code");
      expect(new Fault("NOT_PERMITTED", "").exitCode).toBe(7);
    },
  );

  test("[AM11] stays connected: after the login the same session works", () => {
    const world = openWith({ "session/new": REFUSE });
    const { client, machine, agents } = world;
    const one = client();
    one.attach(one.prompt("hello", { session: "work" }).session);
    machine.until(() => one.of("turn-ended").length === 1);
    agents.options = { replies: { authenticate: () => ({ result: {} }) } };
    expect(one.done({ verb: "login", agent: "claude-code", env: ENV })).toEqual({ kind: "done", method: "console" });
    expect(agents.latest.asked("authenticate")[0]?.params).toEqual({ methodId: "console" });
    one.prompt("again", { session: "work" });
    machine.until(() => agents.latest.asked("session/prompt").length === 1);
    endTurn(world, one);
    expect(agents.all).toHaveLength(1);
  });
});

describe("login", () => {
  const login = (world: ReturnType<typeof openWith>, method?: string) =>
    world.client().done({ verb: "login", agent: "claude-code", env: ENV, ...(method ? { method } : {}) });

  test("[AM11] takes the way that is asked for; a terminal's is run by whoever has one, as the agent's own command", () => {
    const world = openWith({ authenticate: () => ({ result: {} }) });
    expect(login(world, "claude-login")).toEqual({
      kind: "terminal",
      method: "claude-login",
      command: "claude-code-acp",
      args: ["/login"],
      env: { MODE: "login" },
    });
    expect(world.agents.latest.asked("authenticate")).toEqual([]);
  });

  test("[AM11] [SC5] ways of kinds that nobody knows are not taken, and the ways there are are named", () => {
    const world = openWith({});
    for (const method of ["key", "nothing"])
      expect(() => login(world, method)).toThrow(`has no login method "${method}"`);
    expect(() => login(world, "nothing")).toThrow("console (Anthropic Console)");
  });

  test("[AM11] one that fails is not permitted, with the reason", () => {
    const world = openWith({ authenticate: () => ({ error: { code: -32603, message: "Browser closed" } }) });
    try {
      login(world);
      throw new Error("It did not fail");
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "NOT_PERMITTED", exitCode: 7 });
      expect((thrown as Error).message).toContain("Browser closed");
    }
  });

  test("[AM11] an agent that offers no way needs none", () => {
    expect(login(openWith({}, []))).toEqual({ kind: "none" });
  });

  test("[AM11] a login that nobody finishes is given up after five minutes", () => {
    const world = openWith({ authenticate: () => undefined });
    const asked = world
      .client()
      .ask({ verb: "login", agent: "claude-code", env: ENV })
      .catch((thrown: Error) => thrown.message);
    world.machine.advance(299_000);
    expect(world.agents.latest.alive).toBe(true);
    expect(world.machine.wait(asked as Promise<string>, 10_000)).toContain("No answer");
  });
});

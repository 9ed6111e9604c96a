// Does the client keep to its rules with agents that do not? Ids of any kind, lines of any kind, and nothing known is lost.
import { describe, expect, test } from "bun:test";
import { AcpClient, type AcpEvents } from "../../src/agents/acp-client.ts";
import type { PermissionOutcome, PermissionParams } from "../../src/protocol/acp.ts";
import { messageOf } from "../../src/protocol/fault.ts";
import { createMachine } from "../support/fake-world.ts";
import { checkLine } from "./acp-wire.ts";
import type { Message } from "./fake-agent.ts";

function openClient(events: Partial<AcpEvents> = {}, firstId?: number) {
  const machine = createMachine();
  const lines: string[] = [];
  const updates: [string, Record<string, unknown>][] = [];
  const withdrawn: string[] = [];
  const client = new AcpClient(
    machine.process().clock,
    (line) => void lines.push(line),
    {
      update: (sessionId, update) => void updates.push([sessionId, update]),
      permission: async () => ({ outcome: "cancelled" }),
      withdrawn: (id) => void withdrawn.push(id),
      ...events,
    },
    firstId === undefined ? {} : { firstId },
  );
  const sent = (): Message[] => lines.map((line) => JSON.parse(line));
  const say = (message: object): void => client.receive(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return { machine, client, lines, sent, say, updates, withdrawn };
}

const PERMISSION = {
  sessionId: "s",
  toolCall: { toolCallId: "t", title: "Write", kind: "edit", _meta: { vendor: 1 } },
  options: [{ optionId: "y", name: "Yes", kind: "allow_once", extra: true }],
};

describe("what agents ask", () => {
  test.each(["5f0c-uuid", 0, 12])(
    "[AC1] [AC4] a permission request with the id %p is answered under it, as ACP says",
    (id) => {
      const { say, lines, sent, machine } = openClient({
        permission: async () => ({ outcome: "selected", optionId: "y" }),
      });
      say({ id, method: "session/request_permission", params: PERMISSION });
      machine.until(() => lines.length === 1);
      expect(sent()).toEqual([{ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: "y" } } }]);
      expect(lines.map(checkLine)).toEqual(["permission"]);
    },
  );

  test("[AC1] what we do not know in a permission request is passed on as it came", () => {
    const asked: PermissionParams[] = [];
    const { say } = openClient({
      permission(params) {
        asked.push(params);
        return new Promise<PermissionOutcome>(() => {});
      },
    });
    say({ id: 1, method: "session/request_permission", params: { ...PERMISSION, _meta: { a: 1 } } });
    expect(asked).toEqual([{ ...PERMISSION, _meta: { a: 1 } } as PermissionParams]);
  });

  test("[AC1] a permission request that makes no sense is refused as such, and nobody is asked", () => {
    let asked = 0;
    const { say, sent, machine } = openClient({
      async permission() {
        asked++;
        return { outcome: "cancelled" };
      },
    });
    say({ id: 1, method: "session/request_permission", params: { sessionId: "s" } });
    machine.until(() => sent().length === 1);
    expect(sent()[0]?.error?.code).toBe(-32602);
    expect(asked).toBe(0);
  });

  test.each([
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "elicitation/create",
    "_vendor/ask",
    "__proto__",
  ])("[AC1] %s is none of ours: -32601", (method) => {
    const { say, sent, machine } = openClient();
    say({ id: "q", method, params: {} });
    machine.until(() => sent().length === 1);
    expect(sent()).toMatchObject([{ id: "q", error: { code: -32601 } }]);
  });

  test("[AC3] a request that the agent takes back is told by its id, whatever kind it is of", () => {
    const { say, withdrawn, sent } = openClient();
    say({ method: "$/cancel_request", params: { requestId: "a" } });
    say({ method: "$/cancel_request", params: { requestId: 0 } });
    say({ method: "$/cancel_request" });
    say({ method: "$/cancel_request", params: null });
    expect(withdrawn).toEqual(['"a"', "0"]);
    expect(sent()).toEqual([]);
  });
});

describe("what agents tell", () => {
  test("[AC1] updates of any kind, known or not, come with every field they had", () => {
    const { say, updates } = openClient();
    const told = [
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" }, _meta: { a: { b: [1] } } },
      { sessionUpdate: "_vendor_thing", deep: { er: null }, list: [1, "2"] },
      { sessionUpdate: "tool_call_update", toolCallId: "t", status: "paused", content: null, rawOutput: { any: 1 } },
      { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 0.1, currency: "USD" } },
    ];
    for (const update of told) say({ method: "session/update", params: { sessionId: "s", update } });
    expect(updates).toEqual(told.map((update) => ["s", update]));
  });

  test("[AC1] what stands beside an update is told too", () => {
    const besides: unknown[] = [];
    const { say } = openClient({ update: (_, __, beside) => void besides.push(beside) });
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } };
    say({ method: "session/update", params: { sessionId: "s", update, _meta: { trace: "t1" }, more: [1] } });
    expect(besides).toEqual([{ _meta: { trace: "t1" }, more: [1] }]);
  });

  test("[AC1] unknown notifications are ignored and answered by nothing", () => {
    const { say, updates, sent, client } = openClient();
    for (const method of ["_auth/status_update", "elicitation/complete", "$/progress"]) say({ method, params: {} });
    expect([updates, sent(), client.skipped]).toEqual([[], [], 0]);
  });

  test("[AC1] lines that are not JSON and updates without a shape are skipped and counted", () => {
    const { client, say, updates } = openClient();
    for (const line of ["Debugger listening on ws://…", "{", "[]", ""]) client.receive(line);
    say({ method: "session/update", params: { sessionId: 7, update: {} } });
    say({ method: "session/update" });
    say({ id: 99, result: "nobody asked" });
    expect(client.skipped).toBe(6);
    expect(updates).toEqual([]);
  });
});

describe("limits of time", () => {
  const params = { sessionId: "s", cwd: "/", mcpServers: [] };
  test.each([
    ["initialize", 30_000, (client: AcpClient) => client.initialize()],
    ["session/new", 60_000, (client: AcpClient) => client.newSession({ cwd: "/", mcpServers: [] })],
    ["session/load", 60_000, (client: AcpClient) => client.loadSession(params)],
    ["session/resume", 60_000, (client: AcpClient) => client.resumeSession(params)],
    ["session/close", 5_000, (client: AcpClient) => client.closeSession("s")],
  ] as const)("[AM3] [AC3] %s is given up after %d ms", (method, ms, ask) => {
    const { client, machine, lines } = openClient();
    const asked = (ask(client) as Promise<unknown>).catch(messageOf);
    machine.advance(ms - 1);
    expect(lines.map(checkLine)).toEqual([method]);
    machine.advance(1);
    expect(machine.wait(asked)).toBe(`No answer to "${method}" within ${ms} ms`);
    expect(lines.map(checkLine)).toEqual([method, "$/cancel_request"]);
  });

  test("[AC3] a prompt has no limit: a turn takes as long as it takes", () => {
    const { client, machine, say } = openClient({}, 8);
    const asked = client.prompt("s", [{ type: "text", text: "x" }]);
    machine.advance(24 * 3_600_000);
    say({ id: 8, result: { stopReason: "end_turn", usage: { total: 3 } } });
    expect(machine.wait(asked)).toEqual({ stopReason: "end_turn", usage: { total: 3 } } as { stopReason: string });
  });

  test("[AC2] the end rejects everything pending, at once, with the reason", () => {
    const { client, machine } = openClient();
    const asked = [client.initialize(), client.newSession(params), client.prompt("s", [])].map((each) =>
      (each as Promise<unknown>).catch(messageOf),
    );
    client.end(new Error("Claude Code exited with code 1"));
    expect(machine.wait(Promise.all(asked), 0)).toEqual(Array(3).fill("Claude Code exited with code 1"));
  });
});

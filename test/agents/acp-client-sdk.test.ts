// Do we understand an agent that others wrote, and it us? The SDK's own agent as a process, every line against its schemas.
import { describe, expect, test } from "bun:test";
import { AcpClient, type AcpEvents } from "../../src/agents/acp-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { PermissionOutcome, PermissionParams } from "../../src/protocol/acp.ts";
import { messageOf } from "../../src/protocol/fault.ts";
import { checkLine } from "./acp-wire.ts";
import { type RealAgent, runFixture, until } from "./real-agent.ts";

interface Talk extends AsyncDisposable {
  agent: RealAgent;
  client: AcpClient;
  written: string[];
  texts: string[];
  asked: PermissionParams[];
}

async function talk(permission: AcpEvents["permission"] = async () => ({ outcome: "cancelled" })): Promise<Talk> {
  const written: string[] = [];
  const texts: string[] = [];
  const asked: PermissionParams[] = [];
  const agent = runFixture("sdk-agent.ts", [], { line: (text) => client.receive(text) });
  const write = (line: string): void => {
    written.push(line);
    agent.process.write(line);
  };
  const client: AcpClient = new AcpClient(systemClock, write, {
    update: (_, update) => void texts.push((update["content"] as { text: string }).text),
    permission(params, id) {
      asked.push(params);
      return permission(params, id);
    },
    withdrawn() {},
  });
  await client.initialize();
  return { agent, client, written, texts, asked, [Symbol.asyncDispose]: agent[Symbol.asyncDispose] };
}

const text = (said: string) => [{ type: "text", text: said }];
const selected = (optionId: string): PermissionOutcome => ({ outcome: "selected", optionId });

describe("an agent made with the SDK", () => {
  test("[AC1] [AC3] a full life: everything we send parses with the SDK's schemas, and is answered", async () => {
    await using here = await talk(async () => selected("proceed"));
    const { client, written, texts } = here;
    expect(client.initialized?.agentInfo?.name).toBe("sdk-fixture");
    await client.authenticate("key", 1_000);
    const params = { cwd: "/tmp", mcpServers: [] };
    const { sessionId, modes } = await client.newSession(params);
    expect(modes).toMatchObject({ currentModeId: "code" });
    expect(await client.prompt(sessionId, text("say one two three"))).toEqual({ stopReason: "end_turn" });
    expect(texts).toEqual(["one", "two", "three"]);
    expect(await client.prompt(sessionId, text("ask"))).toEqual({ stopReason: "end_turn" });
    expect(texts.at(-1)).toBe('{"outcome":"selected","optionId":"proceed"}');
    const waiting = client.prompt(sessionId, text("wait"));
    client.cancel(sessionId);
    expect(await waiting).toEqual({ stopReason: "cancelled" });
    await client.setMode(sessionId, "plan");
    expect(await client.setConfigOption(sessionId, "effort", "high")).toMatchObject({
      configOptions: [{ id: "effort", currentValue: "high" }],
    });
    await client.setConfigOption(sessionId, "verbose", true);
    expect(await client.listSessions({ cwd: "/tmp" })).toEqual({ sessions: [{ sessionId, cwd: "/tmp" }] });
    await client.closeSession(sessionId);
    expect(await client.resumeSession({ sessionId, ...params })).toMatchObject({ modes: { currentModeId: "plan" } });
    const before = texts.length;
    await client.loadSession({ sessionId, ...params });
    expect(texts.slice(before)).toEqual(["say one two three", "ask", "wait"]);
    expect(written.map(checkLine)).toEqual([
      "initialize",
      "authenticate",
      "session/new",
      "session/prompt",
      "session/prompt",
      "permission",
      "session/prompt",
      "session/cancel",
      "session/set_mode",
      "session/set_config_option",
      "session/set_config_option",
      "session/list",
      "session/close",
      "session/resume",
      "session/load",
    ]);
  });

  test("[AC1] we offer no files and no terminals, by the right names, and refuse what we do not offer", async () => {
    await using here = await talk();
    const { client, written, texts } = here;
    const { params } = JSON.parse(written[0] ?? "");
    expect(params.clientCapabilities).toEqual({
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
    });
    expect(params.protocolVersion).toBe(1);
    expect(params.clientInfo).toMatchObject({ name: "holdfast" });
    const { sessionId } = await client.newSession({ cwd: "/tmp", mcpServers: [] });
    await client.prompt(sessionId, text("read"));
    expect(texts).toEqual(["-32601"]);
    expect(written.map(checkLine).at(-1)).toBe("error");
  });

  test("[AC3] errors of the SDK come with their codes", async () => {
    await using here = await talk();
    const code = (asked: Promise<unknown>) => asked.catch((thrown: { code: number }) => thrown.code);
    const params = { sessionId: "nobody", cwd: "/tmp", mcpServers: [] };
    expect(await code(here.client.loadSession(params))).toBe(-32002);
    expect(await code(here.client.resumeSession(params))).toBe(-32002);
    expect(await code(here.client.prompt("nobody", text("x")))).toBe(-32002);
    expect(await code(here.client.authenticate("nobody", 1_000))).toBe(-32602);
  });

  test("[AC2] its death rejects the prompt that runs", async () => {
    await using here = await talk();
    const { client, agent } = here;
    const { sessionId } = await client.newSession({ cwd: "/tmp", mcpServers: [] });
    const prompt = client.prompt(sessionId, text("wait")).catch(messageOf);
    await until(() => here.written.some((line) => line.includes("session/prompt")));
    agent.process.signalGroup("SIGKILL");
    client.end(new Error(`Signal ${(await agent.process.exited).signal}`));
    expect(await prompt).toBe("Signal SIGKILL");
  });

  test("[AM7] leaves when its stdin closes", async () => {
    await using here = await talk();
    here.agent.process.closeInput();
    expect(await here.agent.process.exited).toEqual({ code: 0, signal: null });
  });
});

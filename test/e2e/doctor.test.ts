// Does the doctor see what is wrong with a real machine, and does --fix mend it and nothing else?
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prompt, withAgents } from "./agent-stage.ts";
import { openStranger } from "./stranger.ts";
import { type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

interface Finding {
  area: string;
  level: string;
  text: string;
  hint: string | null;
}

async function examine(stage: Stage, ...flags: string[]) {
  const { code, stdout, stderr } = await stage.run(["doctor", "--json", ...flags]);
  const findings: Finding[] = JSON.parse(stdout);
  return { code, stderr, findings, of: (area: string) => findings.filter((each) => each.area === area) };
}

/** The agent, its keeper and their host, once all three are there. */
const workingAgent = (stage: Stage) =>
  until("an agent and its keeper", async () => {
    const { pid: host, agents } = JSON.parse((await stage.run(["status", "--json"])).stdout);
    const { pid: agent, keeper } = agents[0] ?? {};
    return agent && keeper ? ({ host, agent, keeper } as Record<"host" | "agent" | "keeper", number>) : undefined;
  });

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe.concurrent("doctor", () => {
  test(
    "[CM1] [CM8] on a fresh machine there is no problem, nothing is made, and JSON is the array of what the text says",
    staged(async (stage) => {
      const { code, findings, of } = await examine(stage);
      expect(code).toBe(0);
      expect(existsSync(stage.state)).toBe(false);
      expect(new Set(findings.map(({ area }) => area))).toEqual(
        new Set(["version", "disk", "port", "files", "config", "keepers", "agents", "browser"]),
      );
      expect(of("files").map(({ text }) => text)).toContainEqual(expect.stringContaining(join(stage.state, "logs")));
      for (const each of findings) expect(Object.keys(each)).toEqual(["area", "level", "text", "hint"]);
      const plain = await stage.run(["doctor"]);
      expect(plain.stdout).not.toContain("\x1b");
      const lines = plain.stdout.trimEnd().split("\n");
      expect(lines).toHaveLength(findings.length);
      for (const [index, { level, text, hint }] of findings.entries()) {
        expect(lines[index]).toStartWith(level);
        // Room on a disk that others write to may differ.
        if (!text.includes("free for")) expect(lines[index]).toEndWith(hint === null ? text : `${text}; ${hint}`);
      }
      const screen = stage.onTerminal(["doctor"]);
      expect((await screen.exited).code).toBe(0);
      expect(screen.output).toContain("\x1b[32mok");
    }),
    60_000,
  );

  test(
    "[CM8] a host is named with its pid and its log",
    staged(async (stage) => {
      await stage.run(["sessions"]);
      const pid = await stage.hostPid();
      const { code, of } = await examine(stage);
      expect(code).toBe(0);
      const [port] = of("port");
      expect(port?.text).toContain(`is held by host ${pid}, holdfast`);
      expect(port?.text).toContain(join(stage.state, "logs", `host-${stage.port}.log`));
    }),
    60_000,
  );

  test(
    "a stranger on the port is a problem, also one that claims to be a host, and one that speaks no HTTP",
    staged(async (stage) => {
      const liar = await openStranger(stage.port, "liar");
      const claimed = await examine(stage);
      expect({ code: claimed.code, port: claimed.of("port") }).toMatchObject({
        code: 1,
        port: [{ level: "problem", text: expect.stringContaining(`process ${process.pid} (`) }],
      });
      liar.leave();
      const rude = Bun.listen({
        hostname: "127.0.0.1",
        port: stage.port,
        socket: { open: (socket) => void socket.end("220 mail.example ESMTP\r\n"), data() {} },
      });
      stage.defer(() => rude.stop(true));
      const found = await examine(stage);
      expect({ code: found.code, port: found.of("port") }).toMatchObject({
        code: 1,
        port: [{ level: "problem", text: expect.stringContaining("no holdfast host"), hint: expect.any(String) }],
      });
      rude.stop(true);
    }),
    60_000,
  );

  test(
    "[CM6] a wrong config file is a problem with its line, and the rest is examined all the same",
    staged(async (stage) => {
      const directory = join(stage.directory, "home", ".config", "holdfast");
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, "config.json"), '{\n  "colour": 1\n}');
      const { code, of } = await examine(stage);
      expect(code).toBe(1);
      expect(of("config")).toMatchObject([
        { level: "problem", text: expect.stringContaining('line 2: unknown key "colour"') },
      ]);
      expect(of("agents").length).toBeGreaterThan(3);
      expect((await examine(stage, "--config", "/dev/null/none")).of("config")).toMatchObject([{ level: "problem" }]);
    }),
    60_000,
  );

  test(
    "an agent that never answers --version is given up after 3 s, with all it started",
    staged(async (stage) => {
      const file = join(stage.directory, "bin", "codex-acp");
      writeFileSync(file, `#!/bin/sh\nsleep 6${stage.port} & sleep 6${stage.port}\n`);
      chmodSync(file, 0o755);
      const { code, of } = await examine(stage);
      expect(code).toBe(0);
      const codex = of("agents").find(({ text }) => text.startsWith("codex"));
      expect(codex?.text).toContain(`${file}, its version is not told within 3 s`);
      const sleeping = Bun.spawnSync(["ps", "-eo", "pid,args"]).stdout.toString().split("\n");
      expect(sleeping.filter((line) => line.includes(file) || line.includes(`sleep 6${stage.port}`))).toEqual([]);
    }),
    60_000,
  );

  test(
    "[SC3] --fix closes what is open to others and says what it did",
    staged(async (stage) => {
      const host = await stage.serve();
      await host.end("SIGTERM");
      const token = join(stage.state, "token");
      chmodSync(token, 0o644);
      chmodSync(stage.state, 0o755);
      const before = await examine(stage);
      expect(before.code).toBe(1);
      expect(before.of("files").filter(({ level }) => level === "problem")).toHaveLength(2);
      expect(modeOf(token)).toBe("644");
      const fixed = await examine(stage, "--fix");
      expect({ code: fixed.code, did: fixed.of("fixed").map(({ text }) => text) }).toEqual({
        code: 0,
        did: [`"${stage.state}" is yours alone now`, `"${token}" is yours alone now`],
      });
      expect([modeOf(stage.state), modeOf(token)]).toEqual(["700", "600"]);
      expect((await stage.run(["sessions"])).code).toBe(0);
    }),
    60_000,
  );
});

test(
  "[SC3] everything a working agent and its keeper have is yours alone, sockets too; a keeper without a host is told, and left",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "stream 2000 20", "--detach"));
    const { agent, host } = await workingAgent(stage);
    const hosted = await examine(stage);
    expect({ code: hosted.code, files: hosted.of("files")[0]?.level }).toEqual({ code: 0, files: "ok" });
    expect(hosted.of("keepers")).toMatchObject([{ level: "ok", text: expect.stringContaining(`demo (pid ${agent})`) }]);
    process.kill(host, "SIGKILL");
    for (const flags of [[], ["--fix"]]) {
      const { code, of } = await examine(stage, ...flags);
      expect({ code, fixed: of("fixed"), keepers: of("keepers") }).toMatchObject({
        code: 0,
        fixed: [],
        keepers: [{ level: "warning", hint: expect.stringContaining(`holdfast stop --agents --port ${stage.port}`) }],
      });
    }
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
  }),
  60_000,
);

test(
  "what a dead agent and its keeper left is a warning; --fix has it read into the journal, and leaves no host behind",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "stream 5000 5", "--detach"));
    const { host, agent, keeper } = await workingAgent(stage);
    const home = join(stage.state, "ports", String(stage.port), "keepers");
    const [run = ""] = readdirSync(home);
    const lastChunk = (path: string) => [...readFileSync(path, "utf8").matchAll(/chunk (\d+)/g)].at(-1)?.[1];
    const out = join(home, run, "out");
    const journal = join(stage.state, "ports", String(stage.port), "sessions", "work.ndjson");
    await until("some output", () => lastChunk(journal));
    // The host stands still while the agent talks on: what it says now is in no journal yet.
    process.kill(host, "SIGSTOP");
    const heard = Number(lastChunk(journal));
    await until("more of it", () => Number(lastChunk(out)) > heard + 5);
    for (const each of [keeper, agent]) process.kill(each, "SIGSTOP");
    for (const each of [host, keeper, agent]) process.kill(each, "SIGKILL");
    const said = lastChunk(out);
    expect(lastChunk(journal)).not.toBe(said);
    await until("their end", async () => (await examine(stage)).of("keepers")[0]?.text.startsWith("Leftovers of 1"));
    const { code, of } = await examine(stage, "--fix");
    expect({ code, fixed: of("fixed"), keepers: of("keepers") }).toMatchObject({
      code: 0,
      fixed: [{ level: "ok", text: expect.stringContaining(`Cleared 1 leftover on port ${stage.port}`) }],
      keepers: [{ level: "ok", text: "No agent is held, and nothing is left of any" }],
    });
    expect(readdirSync(home)).toEqual([]);
    expect(await stage.hostPid()).toBeUndefined();
    expect(lastChunk(journal)).toBe(said);
  }),
  60_000,
);

// Do the short commands ask for the right thing and say what came of it? In text and as JSON.
import { describe, expect, test } from "bun:test";
import { agents } from "../../src/commands/agents.ts";
import { cancel } from "../../src/commands/cancel.ts";
import { close } from "../../src/commands/close.ts";
import type { HoldfastCommand } from "../../src/commands/context.ts";
import { keep } from "../../src/commands/keep.ts";
import { login } from "../../src/commands/login.ts";
import { prompt } from "../../src/commands/prompt.ts";
import { prune } from "../../src/commands/prune.ts";
import { reconnect } from "../../src/commands/reconnect.ts";
import { stop } from "../../src/commands/stop.ts";
import { retentionOf } from "../../src/core/prune.ts";
import { initialized } from "../agents/fake-agent.ts";
import type { ServiceOptions } from "../agents/service-world.ts";
import { openStage, type Stage } from "./stage.ts";

const DAY = 24 * 3_600_000;

function midTurn(options: ServiceOptions = {}): Stage {
  const stage = openStage(options);
  stage.client("somebody").prompt("hello", { session: "work" });
  stage.machine.until(() => stage.agents.all[0]?.asked("session/prompt").length === 1);
  return stage;
}

/** In text and in JSON, on a fresh stage each. */
function says(make: () => Stage, command: HoldfastCommand, words: readonly string[]): [number, string, unknown] {
  const text = make().run(command, words);
  const json = make().run(command, [...words, "--format", "json"]);
  const code = text.wait();
  json.wait();
  return [code, text.out(), JSON.parse(json.out() || "null")];
}

describe("short commands", () => {
  test("[SE6] cancel says when the turn has ended, and whether there was one", () => {
    for (const format of ["text", "json"]) {
      const stage = midTurn();
      const running = stage.run(cancel, ["work", "--format", format]);
      stage.machine.until(() => stage.agents.latest.heard.at(-1)?.method === "session/cancel");
      stage.machine.advance(100);
      expect([running.code, running.out()]).toEqual([undefined, ""]);
      stage.agents.latest.answer("session/prompt", { result: { stopReason: "cancelled" } });
      const said = { text: "The turn in work was cancelled\n", json: '{"session":"work","cancelled":true}\n' };
      expect([running.wait(), running.out()]).toEqual([0, said[format as "text" | "json"]]);
      const again = stage.run(cancel, ["work"]);
      expect([again.wait(), again.out()]).toEqual([0, "Nothing runs in work\n"]);
    }
    expect(midTurn().run(cancel, ["nobody"]).wait()).toBe(3);
  });

  test("[SE6] [CM3] an agent that does not listen to the cancel: exit 6, and what ends it", () => {
    const running = midTurn().run(cancel, ["work"]);
    expect(running.wait()).toBe(6);
    expect(String(running.thrown)).toContain("end the session with: holdfast close work");
  });

  test("[SE1] close ends the session and keeps its journal", () => {
    expect(says(midTurn, close, ["work"])).toEqual([0, "Closed work\n", { session: "work", closed: true }]);
    const stage = midTurn();
    stage.run(close, ["work"]).wait();
    stage.machine.advance(10);
    expect(stage.service.infos()).toEqual([]);
    expect(stage.journal("work").at(-1)?.type).toBe("session-closed");
  });

  test("[AM6] reconnect starts a fresh process and says how it is", () => {
    const stage = midTurn();
    const running = stage.run(reconnect, ["claude-code"]);
    expect([running.wait(), running.out()]).toEqual([0, "claude-code is connected\n"]);
    expect(stage.agents.all.map(({ alive }) => alive)).toEqual([false, true]);
    expect(stage.run(reconnect, ["nobody"]).wait()).toBe(3);
  });

  test("[SE1] keep asks for a pin, for a time or until it is closed, and takes it away again", () => {
    const asked = (words: string[]) => {
      const running = midTurn().run(keep, ["work", ...words]);
      running.wait();
      return [running.asked[0], running.out()];
    };
    expect(asked([])).toEqual([{ verb: "keep", session: "work", forMs: null }, "work is kept\n"]);
    expect(asked(["--for", "2h"])[0]).toEqual({ verb: "keep", session: "work", forMs: 7_200_000 });
    expect(asked(["--off"])).toEqual([
      { verb: "keep", session: "work", forMs: 0 },
      "work has its usual limits again\n",
    ]);
  });

  test("[AM2] agents lists each with its command, or how to get it", () => {
    const stage = midTurn({ deps: { which: (command) => command === "claude-agent-acp" } });
    const running = stage.run(agents, []);
    expect(running.wait()).toBe(0);
    expect(running.out()).toMatch(/claude-code +Claude Code +connected +\d+ +claude-agent-acp/);
    expect(running.out()).toMatch(/codex +Codex +not installed +npm install -g @agentclientprotocol\/codex-acp/);
  });
});

test("[CM4] [CM3] agents ends with 6 when the host does not answer within --timeout", () => {
  const stage = midTurn();
  const running = stage.run(agents, ["--timeout", "3s"]);
  running.answer(() => new Promise(() => {}));
  expect(running.wait()).toBe(6);
  expect(String(running.thrown)).toContain("Not done within 3000 ms; raise it with --timeout");
});

describe("where there are no keepers", () => {
  const MORTAL = "On this platform agents end with their host\n";
  const WORKING = "Session work was working: how its turn ended is unknown\n";
  const said = (make: () => Stage, command: HoldfastCommand, words: readonly string[]): [string, string] => {
    const [kept, mortal] = [make().run(command, words), make().run(command, words, { hasKeepers: false })];
    expect([kept.wait(), mortal.wait()]).toEqual([0, 0]);
    return [kept.err(), mortal.err()];
  };

  test("[CM9] prompt --detach and keep say that agents end with their host", () => {
    expect(said(openStage, prompt, ["claude-code", "hi", "--detach"])).toEqual(["", MORTAL]);
    expect(said(midTurn, keep, ["work"])).toEqual(["", MORTAL]);
    expect(said(midTurn, keep, ["work", "--off"])).toEqual(["", ""]);
  });

  test("[CM9] stop says which turns it cut, and why, in place of those that work on", () => {
    expect(said(midTurn, stop, [])).toEqual([
      "Session work works on; holdfast attach work shows it\n",
      MORTAL + WORKING,
    ]);
    expect(said(midTurn, stop, ["--agents"])).toEqual([WORKING, WORKING]);
    const json = midTurn().run(stop, ["--json"], { hasKeepers: false });
    json.wait();
    expect(JSON.parse(json.out())).toMatchObject({ cut: ["work"], working: [] });
  });
});

describe("prune", () => {
  const shelved = (): Stage => {
    const stage = midTurn({ deps: { retention: retentionOf({}) } });
    const { files } = stage.machine;
    files.replace("/state/sessions/old.ndjson", "x".repeat(1_000));
    files.replace("/state/sessions/new.ndjson", "x".repeat(2_000));
    const { stats } = files;
    const now = stage.process.clock.now();
    files.stats = (path) => {
      const found = stats(path);
      return found && { ...found, modifiedAt: path.includes("old") ? now - 31 * DAY : now - DAY };
    };
    return stage;
  };
  const left = (stage: Stage) =>
    [...stage.machine.files.texts.keys()].filter((path) => path.endsWith(".ndjson")).map((path) => path.slice(16, -7));

  test("[SE3] removes what is older than 30 days, and never a session in use", () => {
    const stage = shelved();
    const running = stage.run(prune, []);
    expect([running.wait(), running.out()]).toEqual([0, "Removed old\n1 journals, 0.0 MiB\n"]);
    expect(left(stage).sort()).toEqual(["new", "work"]);
  });

  test("[SE3] takes other limits, of age and of size", () => {
    const byAge = shelved();
    byAge.run(prune, ["--older-than", "12h"]).wait();
    expect(left(byAge)).toEqual(["work"]);
    const bySize = shelved();
    bySize.run(prune, ["--keep-mib", "0", "--older-than", "590h"]).wait();
    expect(left(bySize)).toEqual(["work"]);
  });

  test("[SE3] a host does it by itself with these limits a while after its start", () => {
    const stage = shelved();
    stage.machine.advance(60_000);
    expect(left(stage).sort()).toEqual(["new", "work"]);
  });
});

describe("login", () => {
  const methods = [
    { id: "web", name: "Web" },
    { id: "tty", name: "Terminal", type: "terminal", args: ["/login"], command: "rm" },
  ];
  const stageWith = (authenticate: object) =>
    openStage({
      replies: {
        initialize: () => initialized(undefined, { authMethods: methods }),
        authenticate: () => authenticate as { result: unknown },
      },
    });

  test("[AM11] logs in by the agent's first way, and says so", () => {
    const running = stageWith({ result: {} }).run(login, ["claude-code"]);
    expect([running.wait(), running.out()]).toEqual([0, "Logged in to claude-code\n"]);
  });

  test("[AM11] exits 7 when the login fails, 2 for a way that is not there", () => {
    const failing = stageWith({ error: { code: -32603, message: "Browser closed" } });
    const running = failing.run(login, ["claude-code"]);
    expect(running.wait()).toBe(7);
    expect(String(running.thrown)).toContain("Browser closed");
    expect(failing.run(login, ["claude-code", "--method", "nope"]).wait()).toBe(2);
  });

  test("[AM11] [SC5] runs the agent's own command in the person's terminal, never one that the agent names", () => {
    const ran: (readonly string[])[] = [];
    const stage = stageWith({ result: {} });
    const run = (code: number) =>
      stage.run(login, ["claude-code", "--method", "tty"], {
        inTerminal(command) {
          ran.push(command);
          return code;
        },
      });
    expect(run(0).wait()).toBe(0);
    expect(run(1).wait()).toBe(7);
    expect(ran).toEqual([
      ["claude-code-acp", "/login"],
      ["claude-code-acp", "/login"],
    ]);
  });

  test("[AM11] says so when none is needed", () => {
    const running = openStage().run(login, ["claude-code"]);
    expect([running.wait(), running.out()]).toEqual([0, "claude-code needs no login\n"]);
  });
});

// Does the built binary finish a web task although browsers die, and is nothing left of it, however it ends?
import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Chromium, chromiumStable } from "../browser/support/chromium.ts";
import { startSite } from "../browser/support/site.ts";
import { type ChatReply, startChatServer } from "../fixtures/chat-server.ts";
import { withAgents } from "./agent-stage.ts";
import type { StreamEvent } from "./process.ts";
import { type Stage, staged } from "./support.ts";
import "../browser/support/two-at-once.ts";
import { until } from "./until.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});
const TO = 120_000;

const FORM = [
  { action: "goto", url: `${site.url}/` },
  { action: "fill", target: { label: "Name" }, value: "Ada" },
  { action: "click", target: { role: "button", name: "Save" } },
  { action: "wait", target: { text: "Hello Ada" } },
  { action: "extract", name: "greeting", target: { css: "#out" } },
];

/** Here a task stays until its browser is killed; with the next one it is through at once. */
const gate = () => [
  { action: "goto", url: `${site.url}/gate?${crypto.randomUUID()}` },
  { action: "wait", target: { text: "Open" }, ms: 60_000 },
];

let files = 0;
function stepsFile(stage: Stage, steps: readonly unknown[]): string {
  const path = join(stage.directory, `steps-${++files}.json`);
  writeFileSync(path, JSON.stringify({ steps }));
  return path;
}
const cdp = (all: readonly Chromium[]): string[] => all.flatMap(({ url }) => ["--cdp", url]);
const eventsOf = (stdout: string): StreamEvent[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const browsersOf = (stage: Stage): string[] => {
  const folder = join(stage.state, "browsers");
  return existsSync(folder) ? readdirSync(folder) : [];
};
const chromiumsOf = (stage: Stage) => stage.processes().filter(({ command }) => command.includes("--user-data-dir"));

test(
  "[BN1] [WA2] [OU1] [CM1] a steps file on two browsers: the first is killed in mid-task, the second finishes, the result is last",
  staged(async (stage) => {
    const all = await stable.take(2);
    const task = stage.spawn(["browse", stepsFile(stage, [...gate(), ...FORM]), "--json", ...cdp(all)]);
    const connected = await task.event("cdp:endpoint_connected");
    const index = Number(connected.data["endpointIndex"]);
    await task.event("browser:action_started", ({ action }) => action === "wait");
    all[index]?.kill();
    expect(await task.exited).toEqual({ code: 0, signal: null });
    const events = eventsOf(task.stdout);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    for (const { at } of events) expect(new Date(at).toISOString()).toBe(at);
    expect(events[0]?.type).toBe("task:started");
    const interesting = [
      "browser:disconnected",
      "cdp:endpoint_connected",
      "browser:reconnected",
      "task:validated",
      "task:completed",
    ];
    const order = events.map(({ type }) => type).filter((type) => interesting.includes(type));
    expect(order).toEqual(["cdp:endpoint_connected", ...interesting]);
    expect(events.at(-1)?.data).toMatchObject({
      success: true,
      data: { greeting: "Hello Ada" },
      stats: { totalErrors: 0, reconnects: 1, endpointIndex: 1 - index, iterations: 10 },
    });
    expect(task.events.find(({ type }) => type === "browser:reconnected")?.data).toEqual({
      startingUrl: "about:blank",
      endpointIndex: 1 - index,
      total: 2,
    });
    expect(task.stderr).toBe("");
    expect(all[1 - index]?.running).toBe(true);
  }),
  TO,
);

test(
  "[BR1] [BR8] [OU1] with no endpoint: results on stdout, one line per step on stderr, the yellow line after a reconnect, nothing left",
  staged(async (stage) => {
    const steps = stepsFile(stage, [...gate(), ...FORM]);
    const task = stage.spawn(["browse", "--steps", steps], { env: { FORCE_COLOR: "1" } });
    await task.errSays(/2\. wait/);
    const owners = browsersOf(stage).map((name) =>
      JSON.parse(readFileSync(join(stage.state, "browsers", name, "owner.json"), "utf8")),
    );
    process.kill(owners.find(({ browser }) => browser !== undefined).browser, "SIGKILL");
    expect(await task.exited).toEqual({ code: 0, signal: null });
    expect(task.stdout).toBe("greeting: Hello Ada\n");
    expect(task.stderr).toContain('6. fill label "Name" value "Ada"');
    expect(task.stderr).toMatch(/\x1b\[33mReconnected to browser 2 of 4/);
    expect(browsersOf(stage)).toEqual([]);
    await until("the end of every browser", () => chromiumsOf(stage).length === 0);
  }),
  TO,
);

test(
  "[BR8] [OU2] nothing is left after a failure (exit code 1) and after Ctrl-C (130)",
  staged(async (stage) => {
    const failing = stepsFile(stage, [FORM[0], { action: "expect", text: "Goodbye", ms: 100 }]);
    const failed = await stage.run(["browse", failing]);
    expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 1, stdout: "" });
    expect(failed.stderr).toContain('error: Expected otherwise: the page does not say "Goodbye"');
    expect(browsersOf(stage)).toEqual([]);
    const long = stage.spawn(["browse", stepsFile(stage, [FORM[0], { action: "wait", ms: 60_000 }]), "--json"]);
    await long.event("browser:action_started", ({ action }) => action === "wait");
    expect(chromiumsOf(stage).length).toBeGreaterThan(0);
    expect(await long.end("SIGINT")).toEqual({ code: 130, signal: null });
    expect(long.events.at(-1)).toMatchObject({
      type: "task:completed",
      data: { success: false, reason: "interrupted" },
    });
    expect(browsersOf(stage)).toEqual([]);
    expect(chromiumsOf(stage)).toEqual([]);
  }),
  TO,
);

test(
  "[BR8] after kill -9 of holdfast the next start ends what was left",
  staged(async (stage) => {
    const path = stepsFile(stage, [FORM[0], { action: "wait", ms: 60_000 }]);
    const task = stage.spawn(["browse", path, "--json"]);
    await task.event("browser:action_started", ({ action }) => action === "wait");
    await task.end("SIGKILL");
    const left = chromiumsOf(stage);
    expect(left.length).toBeGreaterThan(0);
    // The browser's, and the library's.
    expect(browsersOf(stage)).toHaveLength(2);
    // Any start will do, also one that needs no browser of its own.
    const next = await stage.run(["browse", path, "--cdp", "http://127.0.0.1:1"]);
    expect(next.code).toBe(8);
    expect(browsersOf(stage)).toEqual([]);
    await until("the end of what was left", () => chromiumsOf(stage).length === 0);
  }),
  TO,
);

const SCRIPT = {
  plan: { successCriteria: "It says Hello", plan: "Fill and save", url: `${site.url}/`, actionItems: ["fill", "save"] },
  actions: [FORM[1], "This is no JSON", FORM[2], FORM[4], { action: "done", answer: "Hello Ada" }],
};

test(
  "[BN2] [BN4] an agent of the bridge drives it: asked again when its answer does not fit, on through a lost browser, its steps run without it",
  withAgents(async (stage) => {
    const all = await stable.take(2);
    const task = stage.spawn([
      "browse",
      `demo-script ${JSON.stringify(SCRIPT)}`,
      "--agent",
      "demo",
      "--json",
      "--no-standby",
      ...cdp(all),
    ]);
    await task.event("browser:action_completed", ({ action }) => action === "fill");
    all[0]?.kill();
    expect(await task.exited).toEqual({ code: 0, signal: null });
    const completed = task.events.at(-1);
    expect(completed).toMatchObject({
      type: "task:completed",
      data: {
        success: true,
        answer: "Hello Ada",
        data: { greeting: "Hello Ada" },
        plan: SCRIPT.plan,
        stats: { reconnects: 1, endpointIndex: 1 },
      },
    });
    expect(task.events.filter(({ type }) => type === "task:planned")).toHaveLength(1);
    // The answer that was no JSON, once or twice: it depends on when the browser was noticed to be gone.
    const stats = completed?.data["stats"] as { totalErrors: number };
    expect([1, 2]).toContain(stats.totalErrors);
    const steps = String(completed?.data["stepsFile"]);
    const again = await stage.run(["browse", steps, "--cdp", all[1]?.url ?? ""]);
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: "greeting: Hello Ada\n" });
    await until("the end of its sessions", async () => (await stage.agentSessions()).length === 0);
  }),
  TO,
);

test(
  "[BN3] [BN4] [OU3] a model over HTTP drives it; its key is nowhere in what is said or written",
  staged(async (stage) => {
    const [only] = await stable.take(1);
    const replies: ChatReply[] = [
      { status: 503, headers: { "retry-after": "0" } },
      { tool: "plan", arguments: SCRIPT.plan },
      { tool: "fill", arguments: { target: { label: "Name" }, value: "{{WHO}}" } },
      { tool: "click", arguments: { target: { role: "button", name: "Save" } } },
      { tool: "extract", arguments: { name: "greeting", target: { css: "#out" } } },
      { tool: "done", arguments: { answer: "It says Hello" } },
      { tool: "verdict", arguments: { success: true } },
    ];
    const server = startChatServer((_, count) => replies[count - 1] as ChatReply);
    stage.defer(() => server.end());
    const out = join(stage.directory, "out");
    const env = { HOLDFAST_API_KEY: "k3y-canary", WHO: "wh0-canary" };
    const model = ["--model", "tiny", "--base-url", server.url];
    const words = [
      "browse",
      "Say hello",
      ...model,
      "--secret",
      "WHO",
      "--out",
      out,
      "--json",
      ...cdp(only ? [only] : []),
    ];
    const ran = await stage.run(words, { env });
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: "" });
    expect(eventsOf(ran.stdout).at(-1)?.data).toMatchObject({
      success: true,
      data: { greeting: "Hello {{WHO}}" },
      stepsFile: join(out, "steps.json"),
    });
    expect(server.requests[0]?.authorization).toBe("Bearer k3y-canary");
    const prompts = JSON.stringify(server.requests.map(({ body }) => body));
    const written = ["events.ndjson", "steps.json"].map((file) => readFileSync(join(out, file), "utf8"));
    for (const sink of [ran.stdout, prompts, ...written]) {
      expect(sink).not.toContain("wh0-canary");
      expect(sink).not.toContain("k3y-canary");
    }
    expect(prompts).toContain("Hello {{WHO}}");
    const again = await stage.run(["browse", join(out, "steps.json"), "--secret", "WHO", "--cdp", only?.url ?? ""], {
      env,
    });
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 0, stdout: "greeting: Hello {{WHO}}\n" });
  }),
  TO,
);

test(
  "[OU2] [CM3] each class of failure has its exit code: 2, 6, 7, 8, 9",
  staged(async (stage) => {
    const [only] = await stable.take(1);
    const one = cdp(only ? [only] : []);
    const waits = stepsFile(stage, [{ action: "wait", ms: 60_000 }, { action: "back" }]);
    const denied = startChatServer(() => ({ status: 401 }));
    stage.defer(() => denied.end());
    const cases: [string[], number, RegExp][] = [
      [["browse"], 2, /A task needs one brain/],
      [["browse", "do it"], 2, /A task needs one brain/],
      [["browse", waits, "--model", "x"], 2, /one brain/],
      [["browse", waits, "--cdp", "ftp://x"], 2, /CDP endpoint 1 has the scheme "ftp"/],
      [["browse", waits, "--carry", "--fresh"], 2, /exclude each other/],
      [["browse", waits, "--allow-domain", "http://x"], 2, /--allow-domain got "http:\/\/x"/],
      [["browse", waits, "--secret", "NOT_THERE"], 2, /no variable "NOT_THERE"/],
      [["browse", join(stage.directory, "none.json")], 2, /cannot be read/],
      [["browse", waits, "--timeout", "1s", ...one], 6, /not done within 1000 ms/],
      [["browse", "x", "--model", "m", "--base-url", denied.url, ...one], 7, /may not be used/],
      [["browse", waits, "--cdp", "http://127.0.0.1:1"], 8, /used up/],
      [
        [
          "browse",
          stepsFile(stage, [
            { action: "wait", ms: 1 },
            { action: "wait", ms: 1 },
          ]),
          "--max-iterations",
          "1",
          ...one,
        ],
        9,
        /--max-iterations/,
      ],
    ];
    for (const [words, code, says] of cases) {
      const ran = await stage.run(words);
      expect({ words, code: ran.code, says: says.test(ran.stderr) || ran.stderr }).toEqual({ words, code, says: true });
    }
  }),
  TO,
);

test(
  "[BN1] --check tells the file, the line and what would be right; --schema prints JSON Schema; endpoints come from environment and config",
  staged(async (stage) => {
    const right = await stage.run(["browse", "--check", stepsFile(stage, FORM)]);
    expect({ code: right.code, out: right.stdout.endsWith("is right: 5 steps\n") }).toEqual({ code: 0, out: true });
    const path = join(stage.directory, "wrong.json");
    const wrongs: [string, RegExp][] = [
      ['{\n "steps": [\n  {"action": "fly"}\n ]\n}', /wrong\.json" line 3: "steps\.0\.action" is wrong/],
      [
        '{\n "steps": [\n  {"action": "back"},\n  {"action": "click", "target": {"ref": "e1"}}\n ]\n}',
        /line 4: .*target/,
      ],
      ['{"steps": []}', /steps/],
      ["{", /line 1: column 2: invalid JSON/],
      ['{\n "step": []\n}', /wrong\.json" line/],
    ];
    for (const [text, says] of wrongs) {
      writeFileSync(path, text);
      const ran = await stage.run(["browse", "--check", path]);
      expect({ text, code: ran.code, says: says.test(ran.stderr) || ran.stderr }).toEqual({
        text,
        code: 2,
        says: true,
      });
    }
    const none = await stage.run(["browse", stepsFile(stage, FORM)], { env: { HOLDFAST_CHROMIUM: "/no/such" } });
    expect({ code: none.code, says: /No Chromium or Chrome was found/.test(none.stderr) || none.stderr }).toEqual({
      code: 2,
      says: true,
    });
    const schema = JSON.parse((await stage.run(["browse", "--schema"])).stdout);
    expect(schema).toMatchObject({ type: "object", required: ["steps"] });
    expect(JSON.stringify(schema)).toContain('"expect"');
    const [only] = await stable.take(1);
    const file = stepsFile(stage, [{ action: "wait", ms: 1 }]);
    const used = async (env: Record<string, string>): Promise<unknown> => {
      const { stdout } = await stage.run(["browse", file, "--json"], { env });
      return eventsOf(stdout)[0]?.data["endpoints"];
    };
    const config = join(stage.directory, "config", "holdfast", "config.json");
    await Bun.write(config, JSON.stringify({ cdpEndpoints: [only?.url] }));
    const XDG_CONFIG_HOME = join(stage.directory, "config");
    expect(await used({ XDG_CONFIG_HOME })).toEqual([`${only?.url}/`]);
    expect(await used({ XDG_CONFIG_HOME, HOLDFAST_CDP_ENDPOINTS: `http://127.0.0.1:1, ${only?.url}` })).toEqual([
      "http://127.0.0.1:1/",
      `${only?.url}/`,
    ]);
  }),
  TO,
);

// Does a canary get out anywhere? Events, files, faults, steps, and what a brain is told.
import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { mustKnow, readSecrets } from "../../src/browser/secrets.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { scriptedBrain } from "./support/brain.ts";
import { chromiumStable } from "./support/chromium.ts";
import { runTask } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";
import "./support/two-at-once.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});
const TO = 60_000;
const CANARY = "c4nary/öne&two";

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test(
  "[OU3] [OU1] a secret that the page echoes is in no event, no file and no prompt; what is kept is private",
  async () => {
    using folder = createTempDir();
    const [only] = await stable.take(1);
    const brain = scriptedBrain({
      url: `${site.url}/`,
      actions: [
        { action: "fill", target: { label: "Name" }, value: "{{WHO}}" },
        { action: "click", target: { role: "button", name: "Save" } },
        { action: "goto", url: `${site.url}/echo?q={{WHO}}` },
        { action: "extract", name: "said", target: { text: "You said" } },
        { action: "click", target: { css: "nothing-{{WHO}}", nth: 0 } },
        { action: "goto", url: `nonsense-${CANARY}` },
      ],
      verdicts: [{ success: false, feedback: `Not ${CANARY}` }],
    });
    const out = folder.at("out");
    const ran = await runTask({
      endpoints: [only?.url ?? ""],
      brain,
      secrets: new Map([["WHO", CANARY]]),
      out,
      limits: { maxIterations: 7, maxConsecutiveErrors: 5, maxTotalErrors: 15 },
    });
    // The value did reach the page: it is shown there, and redacted on its way out.
    expect(brain.situations[2]?.sight?.tree).toContain("Hello {{WHO}}");
    expect(ran.of("browser:action_completed")[3]).toMatchObject({ data: { name: "said", value: "You said {{WHO}}" } });
    expect(ran.code).toBe(9);
    const files = filesBelow(out);
    const names = files.map((file) => file.slice(out.length + 1)).sort();
    expect(names).toContain("events.ndjson");
    expect(names).toContain("steps/001/tree.yml");
    expect(names).toContain("steps/001/screenshot.png");
    expect(names).toContain("steps.json");
    const texts = files.filter((file) => !file.endsWith(".png")).map((file) => readFileSync(file, "utf8"));
    const sinks = [
      ...texts,
      JSON.stringify(ran.events),
      String(ran.thrown),
      JSON.stringify(brain.situations),
      JSON.stringify(brain.judged),
    ];
    for (const form of [CANARY, encodeURIComponent(CANARY), encodeURI(CANARY)])
      expect(sinks.filter((sink) => sink.includes(form))).toEqual([]);
    expect(sinks.join()).toContain("{{WHO}}");
    for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const path of [out, join(out, "steps"), join(out, "steps", "001")])
      expect(statSync(path).mode & 0o777).toBe(0o700);
  },
  TO,
);

test(
  "[OU3] user info, query and path of an endpoint are in no event and no fault, also where the library says them",
  async () => {
    const parts = ["us3rname", "passw0rd", "pathpart-0123456789", "t0kenvalue"] as const;
    const [user, password, path, token] = parts;
    const endpoints = [
      `http://${user}:${password}@127.0.0.1:1/${path}?token=${token}`,
      `ws://127.0.0.1:1/${path}?token=${token}`,
    ];
    const ran = await runTask({ endpoints, brain: scriptedBrain({ actions: [] }) });
    expect(ran.code).toBe(8);
    const sinks = `${JSON.stringify(ran.events)}${ran.thrown}${JSON.stringify((ran.thrown as { data: unknown }).data)}`;
    for (const part of parts) expect(sinks).not.toContain(part);
    expect(sinks).toContain("127.0.0.1:1");
  },
  TO,
);

test("[OU3] secrets come from the environment or a file, never from the command line", () => {
  const env = { TOKEN: "abc" };
  expect([...readSecrets({ names: ["TOKEN"], file: undefined, env })]).toEqual([["TOKEN", "abc"]]);
  const dotenv = { path: "f", text: "# mine\nexport A=1\nB = 'two words'\n" };
  expect([...readSecrets({ names: [], file: dotenv, env })]).toEqual([
    ["A", "1"],
    ["B", "two words"],
  ]);
  const json = { path: "f", text: '{"A":"1"}' };
  expect([...readSecrets({ names: [], file: json, env })]).toEqual([["A", "1"]]);
  expect(() => readSecrets({ names: ["NOPE"], file: undefined, env })).toThrow('no variable "NOPE"');
  // A value given by mistake is not repeated.
  expect(() => readSecrets({ names: ["A=hunter2"], file: undefined, env })).toThrow(/never the value itself$/);
  for (const text of ["A", "=1", '{"A":1}', "{"]) {
    expect(() => readSecrets({ names: [], file: { path: "f", text }, env })).toThrow('"f"');
  }
});

test("[OU3] a steps file that needs a secret which is not given is refused before anything is done", () => {
  const file = { steps: [{ action: "fill" as const, target: { label: "P" }, value: "{{PW}}" }] };
  expect(() => mustKnow(file, new Map())).toThrow('The steps need the secret "PW"');
  expect(() => mustKnow(file, new Map([["PW", "x"]]))).not.toThrow();
});

// Does the demo of the built binary kill everybody, lose nothing, and leave nothing?
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findBrowser } from "../../src/platform/find-browser.ts";
import { mentioning } from "./leftovers.ts";
import { SHORT_DIRECTORY, type Stage, staged } from "./support.ts";
import "../browser/support/two-at-once.ts";
import { until } from "./until.ts";

/** Less than 30 s on a quiet machine; others may work here. */
const MOST_MS = 2 * 30_000;
const TO = 120_000;

/** Agents and browsers do not carry the stage's tag, but all that the demo starts has its directories from here. */
async function expectNothingLeft(stage: Stage): Promise<void> {
  expect(mentioning(stage.directory)).toEqual([]);
  const temporary = readdirSync(join(stage.directory, "tmp"), { recursive: true });
  expect(temporary.filter((name) => name !== SHORT_DIRECTORY)).toEqual([]);
  expect(readdirSync(join(stage.directory, "home"))).toEqual([]);
  expect(readdirSync(stage.directory).sort()).toEqual(["bin", "home", "tmp"]);
}

test(
  "[CM1] the demo kills host, keeper, agent and browser under work, loses and doubles nothing, and leaves nothing",
  staged(async (stage) => {
    const hasBrowser = findBrowser(stage.env) !== undefined;
    const { code, stdout, stderr } = await stage.run(["demo", "--format", "json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { takeovers, requests, agent, browser, whole, tookMs } = JSON.parse(stdout);
    expect(whole).toBe(true);
    const some = expect.any(Number);
    expect(takeovers).toEqual(
      ["SIGKILL", "SIGTERM"].map((signal) => ({
        signal,
        from: some,
        to: some,
        tookMs: some,
        answerMs: some,
        lineMs: some,
      })),
    );
    const [crash, graceful] = takeovers;
    expect(graceful.from).toBe(crash.to);
    expect(new Set([crash.from, crash.to, graceful.to]).size).toBe(3);
    expect(requests).toEqual({ answered: some, unknown: some, lost: 0, doubled: 0 });
    expect(requests.answered).toBeGreaterThan(50);
    expect(agent).toEqual({
      lines: 1_500,
      lost: 0,
      doubled: 0,
      keeperMs: some,
      toldMs: some,
      restored: "still there? (turn 3)",
    });
    const browsed = { killed: some, readyMs: some, steps: some, success: true };
    expect(browser).toEqual(hasBrowser ? browsed : null);
    expect(tookMs).toBeLessThan(MOST_MS);
    await expectNothingLeft(stage);
  }),
  TO,
);

test(
  "[CM1] on a terminal the demo tells its story by titles, and ends with what was lost: nothing",
  staged(async (stage) => {
    const screen = stage.onTerminal(["demo"], { env: { NO_COLOR: "1" } });
    expect(await screen.exited).toEqual({ code: 0, signal: null });
    await until("the last of the output", () => screen.output.endsWith("\n"));
    const titles = screen.output.split("\r\n").filter((line) => line !== "" && !line.startsWith(" "));
    expect(titles).toEqual([
      "1. The host dies",
      "2. and 3. The agent works on, whoever dies around it",
      "4. The browser dies",
      "What became of it",
    ]);
    const ending = screen.output.split("What became of it")[1] ?? "";
    expect(ending.match(/lost 0, doubled 0/g)).toHaveLength(2);
    expect(ending.trimEnd()).toEndWith("lost 0, doubled 0");
    await expectNothingLeft(stage);
  }),
  TO,
);

// Who hosts when many start at the same instant?
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const TOGETHER = 8;
const TIMES = 20;

test(
  "[HO1] [HO3] [HO4] eight standbys start at the same instant, twenty times: one hosts, seven are its clients, none fails",
  staged(async (stage) => {
    for (let time = 0; time < TIMES; time++) {
      const all = Array.from({ length: TOGETHER }, () => stage.spawn(["serve", "--standby", "--json"]));
      const started = await Promise.all(all.map((proc) => proc.event("started")));
      const roles = started.map(({ data }) => data["role"]).sort();
      expect(roles).toEqual([...Array(TOGETHER - 1).fill("client"), "host"]);
      const host = all[started.findIndex(({ data }) => data["role"] === "host")];
      const others = all.filter((proc) => proc !== host);
      await Promise.all(others.map(({ pid }) => host?.event("client-connected", (data) => data["pid"] === pid)));
      expect(all.map(({ stderr }) => stderr)).toEqual(Array(TOGETHER).fill(""));
      // The host last, or the others would go on taking over from each other.
      for (const proc of [...others, host]) await proc?.end("SIGKILL");
    }
  }),
  180_000,
);

test(
  "[HO6] [CM2] [SC2] eight first commands at once on an empty home: one background host, one token, all succeed",
  staged(async (stage) => {
    const all = await Promise.all(Array.from({ length: TOGETHER }, () => stage.run(["sessions", "--json"])));
    expect(all.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      Array(TOGETHER).fill({ code: 0, stdout: "[]\n" }),
    );
    expect(readFileSync(join(stage.state, "token"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    expect(statSync(join(stage.state, "token")).mode & 0o777).toBe(0o600);
    // No half-made token of a loser is left beside it.
    expect(readdirSync(stage.state).sort()).toEqual(["logs", "ports", "token"]);
    const pid = await stage.hostPid();
    // Those who found that another won may still be on their way out.
    await until("one process alone", () => stage.processes().length === 1);
    expect(stage.processes().map((process) => process.pid)).toEqual([pid as number]);
  }),
  60_000,
);

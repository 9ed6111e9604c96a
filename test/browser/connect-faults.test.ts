// Which failures at connect time go on to the next endpoint? All twenty-one but one, which is a mistake of the caller's.
import { afterAll, describe, expect, test } from "bun:test";
import { scriptedBrain } from "./support/brain.ts";
import { chromiumStable } from "./support/chromium.ts";
import { FAULTS } from "./support/faulty.ts";
import { runTask } from "./support/run-task.ts";
import "./support/two-at-once.ts";

const stable = chromiumStable();
afterAll(() => stable.end());
const TO = 60_000;

/** One cap for each: five seconds, and what a busy machine takes. */

describe("connect faults", () => {
  test("[BR3] they are twenty-one, with the malformed URL", () => {
    expect(Object.keys(FAULTS)).toHaveLength(20);
  });

  for (const [name, make] of Object.entries(FAULTS)) {
    test(
      `[BR3] [BR2] [BR7] ${name}: the cycle is told, and the healthy second endpoint is used`,
      async () => {
        const [good] = await stable.take(1);
        const faulty = await make();
        // Without a head start for the second: the first has to fail by itself.
        const ran = await runTask({ endpoints: [faulty.url, good?.url ?? ""], brain: scriptedBrain({ actions: [] }) });
        faulty.end();
        expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
        expect(ran.types().slice(0, 3)).toEqual(["task:started", "cdp:endpoint_cycle", "cdp:endpoint_connected"]);
        const [cycle] = ran.of("cdp:endpoint_cycle");
        // One cap, measured outside the library for all of its stages: it is ours that ends the wait.
        const capped = ["black hole", "mute", "mute CDP"].includes(name);
        const error = capped ? "No answer within 5000 ms" : expect.stringMatching(/\S/);
        expect(cycle).toEqual({ attempt: 1, total: 2, error });
        expect(ran.of("cdp:endpoint_connected")).toMatchObject([{ endpointIndex: 1, total: 2 }]);
        expect(ran.stats).toMatchObject({ totalErrors: 0, reconnects: 0, iterations: 1 });
      },
      TO,
    );
  }

  test("[BR3] a malformed URL or a wrong scheme is a configuration error: exit code 2, nothing is tried", async () => {
    for (const wrong of ["http//127.0.0.1:9222", "ftp://127.0.0.1:9222"]) {
      const ran = await runTask({ endpoints: [wrong, "http://127.0.0.1:1"], brain: scriptedBrain({ actions: [] }) });
      expect({ code: ran.code, events: ran.events }).toEqual({ code: 2, events: [] });
      expect(String(ran.thrown)).toContain("CDP endpoint 1");
    }
  });
});

describe("all of them", () => {
  test(
    "[BR2] each failed endpoint is told, then they are used up: exit code 8, and it cannot be recovered from",
    async () => {
      const refused = await Promise.all([1, 2, 3].map(() => FAULTS["connection refused"]?.()));
      const ran = await runTask({
        endpoints: refused.map((each) => each?.url ?? ""),
        brain: scriptedBrain({ actions: [] }),
      });
      expect(ran.code).toBe(8);
      expect(ran.of("cdp:endpoint_cycle").map(({ attempt, total }) => [attempt, total])).toEqual([
        [1, 3],
        [2, 3],
        [3, 3],
      ]);
      expect(ran.of("task:completed")).toMatchObject([{ success: false, reason: "endpoints-exhausted" }]);
    },
    TO,
  );

  test(
    "[BR4] past a black hole the next is started after 300 ms: nobody waits for the five seconds",
    async () => {
      const [good] = await stable.take(1);
      const hole = await FAULTS["black hole"]?.();
      const ran = await runTask({
        endpoints: [hole?.url ?? "", good?.url ?? ""],
        standby: undefined,
        brain: scriptedBrain({ actions: [] }),
      });
      hole?.end();
      expect(ran.code).toBe(0);
      expect(ran.of("cdp:endpoint_connected")).toMatchObject([{ endpointIndex: 1 }]);
      // After five seconds it would be told as failed.
      expect(ran.of("cdp:endpoint_cycle")).toEqual([]);
    },
    TO,
  );
});

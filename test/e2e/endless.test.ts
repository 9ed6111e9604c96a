// What happens to code that never comes back?
import { expect, test } from "bun:test";
import { staged } from "./support.ts";

test(
  "[SC8] [CM3] an endless loop is ended at its deadline and told as such; the session lives on with fresh state, and the plugin answers meanwhile",
  staged(async (stage) => {
    await stage.serve();
    const plugin = await stage.plugin("one", "--deadline", "2s");
    const { sessionId } = (await plugin.event("connected")).data;
    expect((await stage.run(["exec", "before = 1"])).code).toBe(0);
    const loop = stage.run(["exec", "for (;;);"]);
    const json = stage.run(["exec", "for (;;);", "--json"]);
    // The loop blocks a thread of its own, not the plugin.
    const state = await stage.run(["state", "--json", "--timeout", "30s"]);
    expect(JSON.parse(state.stdout)).toMatchObject({ placeName: "JavaScript" });
    expect(await stage.run(["logs"])).toMatchObject({ code: 0 });

    const { code, stdout, stderr } = await loop;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("The script ran longer than 2000 ms and was ended; the session goes on with fresh state");
    const told = await json;
    expect(told.code).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({ success: false, code: "SCRIPT_DEADLINE", sessionId });
    const after = await stage.run(["exec", "typeof before", "--json"]);
    expect(JSON.parse(after.stdout)).toMatchObject({ success: true, value: "undefined", sessionId });
    expect(plugin.events.at(-1)?.type).toBe("connected");
  }),
  60_000,
);

test(
  "[SC8] code that ends its own thread, or runs wild after its end, takes neither plugin nor host with it",
  staged(async (stage) => {
    const host = await stage.serve();
    const plugin = await stage.plugin("one", "--deadline", "2s");
    const exit = await stage.run(["exec", "process.exit(3)"]);
    expect(exit.code).toBe(1);
    expect(exit.stderr).toContain("ended its own thread with exit code 3");
    expect((await stage.run(["exec", "setTimeout(() => { for (;;); }, 0); 'left behind'"])).stdout).toBe(
      "left behind\n",
    );
    expect(await stage.run(["exec", "6 * 7"])).toMatchObject({ code: 0, stdout: "42\n" });
    expect([host.running, plugin.running]).toEqual([true, true]);
    expect(plugin.events.at(-1)?.type).toBe("connected");
  }),
  60_000,
);

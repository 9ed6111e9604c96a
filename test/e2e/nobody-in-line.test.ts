// What happens when the host dies and nobody stands in line?
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const HOST_ALONE = /background-host --port \d+$/;

test(
  "[RC1] [RC5] [TK14] [CM2] the host dies alone: the plugin searches, the next command starts a host, and the plugin finds it",
  staged(async (stage) => {
    const host = await stage.serve();
    const plugin = await stage.plugin("one");
    await stage.run(["exec", "kept = 41"]);
    const { sessionId } = (await plugin.event("connected")).data;
    const since = plugin.events.length;
    await host.end("SIGKILL");
    await plugin.event("searching", () => true, { since });
    expect(await stage.health()).toBeUndefined();
    // The plugin keeps looking, and by itself starts nothing.
    expect(stage.processes().map(({ pid }) => pid)).toEqual([plugin.pid]);

    const { code, stdout } = await stage.run(["exec", "kept + 1"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "42\n" });
    const back = await plugin.event("connected", () => true, { since });
    expect(back.data["instanceId"]).toBe("one");
    expect(back.data["sessionId"]).not.toBe(sessionId);
    const types = plugin.events.slice(since).map(({ type }) => type);
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      "reconnecting",
      "searching",
      "connecting",
      "connected",
    ]);
    const others = stage.processes().filter(({ pid }) => pid !== plugin.pid);
    expect(others).toHaveLength(1);
    expect(others[0]?.command).toMatch(HOST_ALONE);
  }),
  60_000,
);

test(
  "[RC1] the host leaves in good order: the plugin searches at once, without a wait for better times",
  staged(async (stage) => {
    const host = await stage.serve();
    const plugin = await stage.plugin("one");
    const since = plugin.events.length;
    await host.end("SIGTERM");
    await plugin.event("searching", () => true, { since });
    expect(plugin.events[since]?.type).toBe("searching");
    await stage.serve();
    await plugin.event("connected", () => true, { since });
  }),
  60_000,
);

test(
  "[IF4] [TK14] a state that waits when its host dies alone is asked again of a host that the command starts itself",
  staged(async (stage) => {
    const host = await stage.serve();
    const plugin = await stage.plugin("one");
    plugin.kill("SIGSTOP");
    const state = stage.spawn(["state", "--json", "--timeout", "60s"]);
    await host.event("client-connected", ({ pid }) => pid === state.pid);
    // Only now it waits for the plugin: it says so after a second.
    await state.errSays(/Waiting for JavaScript/);
    await host.end("SIGKILL");
    await state.errSays(/asking again/);
    plugin.kill("SIGCONT");
    expect(await state.exited).toEqual({ code: 0, signal: null });
    expect(JSON.parse(state.stdout)).toMatchObject({ state: "Edit", placeName: "JavaScript" });
    const others = stage.processes().filter(({ pid }) => pid !== plugin.pid);
    expect(others.map(({ command }) => HOST_ALONE.test(command))).toEqual([true]);
  }),
  60_000,
);

test(
  "[IF4] [CM3] an exec whose host dies alone ends with 5 and starts no host: it has nothing to ask again",
  staged(async (stage) => {
    const host = await stage.serve();
    const plugin = await stage.plugin("one");
    const mark = join(stage.directory, "begun");
    const exec = stage.run(["exec", `await Bun.write("${mark}", ""); await Bun.sleep(600_000)`]);
    await until("the script's begin", () => existsSync(mark));
    await host.end("SIGKILL");
    const { code, stdout, stderr } = await exec;
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
    expect(stderr).toContain("it was not sent again");
    expect(stage.processes().map(({ pid }) => pid)).toEqual([plugin.pid]);
  }),
  60_000,
);

test(
  "[CM3] [TK14] a command that waits for a plugin and may start no host ends with 4 when its host dies alone, not with 3",
  staged(async (stage) => {
    const host = await stage.serve();
    const exec = stage.spawn(["exec", "1", "--no-start"]);
    await exec.errSays(/Waiting for a plugin session/);
    await host.end("SIGKILL");
    expect(await exec.exited).toEqual({ code: 4, signal: null });
    expect(exec.stderr).toContain(`127.0.0.1:${stage.port}`);
  }),
  60_000,
);

// With which settings does a successor go on?
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { staged } from "./support.ts";

const CONFLICT = /last host's settings overrule our own.*"auth"/;

test(
  "[HO7] [SC2] the host with --auth none is killed: its successor keeps that against its own flags, and says so",
  staged(async (stage) => {
    const host = await stage.serve("--auth", "none");
    expect(host.stderr).toMatch(/--auth none: every process on this machine can use port/);
    const standby = await stage.standby("--auth", "token");
    const kept = join(stage.state, "ports", `${stage.port}.json`);
    expect(JSON.parse(readFileSync(kept, "utf8"))).toMatchObject({ auth: "none" });
    const before = standby.stderr.length;
    await host.end("SIGKILL");
    await standby.event("role-changed", ({ role }) => role === "host");
    await standby.errSays(CONFLICT);
    expect(standby.stderr.slice(before)).toMatch(/--auth none: every process on this machine/);
    expect(JSON.parse((await stage.run(["status", "--json"])).stdout)).toMatchObject({
      auth: "none",
      pid: standby.pid,
    });
    // A foreign client, without any hello, is served.
    const foreign = new WebSocket(`ws://127.0.0.1:${stage.port}/client`);
    const answer = await new Promise<string>((resolve, reject) => {
      foreign.onopen = () => foreign.send(JSON.stringify({ type: "list-sessions", requestId: "r" }));
      foreign.onmessage = ({ data }) => String(data).includes("-response") && resolve(String(data));
      foreign.onclose = () => reject(new Error("closed"));
    });
    foreign.close();
    expect(JSON.parse(answer)).toEqual({ type: "list-sessions-response", requestId: "r", sessions: [] });
  }),
  60_000,
);

test(
  "[HO7] [SC2] a plugin token is inherited too: the successor, started without one, lets no plugin in without it",
  staged(async (stage) => {
    const secret = "a-secret-of-sixteen";
    const host = stage.spawn(["serve", "--json", "--plugin-token"], { env: { HOLDFAST_PLUGIN_TOKEN: secret } });
    await host.event("started");
    const standby = await stage.standby();
    await host.end("SIGKILL");
    await standby.event("role-changed", ({ role }) => role === "host");
    const register = (query: string) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${stage.port}/plugin${query}`);
        const payload = { pluginVersion: "1", instanceId: "i", placeName: "p", state: "Edit", capabilities: [] };
        const frame = { type: "register", sessionId: "s", protocolVersion: 2, payload };
        socket.onopen = () => socket.send(JSON.stringify(frame));
        socket.onmessage = ({ data }) => {
          resolve(JSON.parse(String(data)).type);
          socket.close();
        };
        socket.onclose = ({ code }) => resolve(String(code));
      });
    expect(await register("")).toBe("1008");
    expect(await register("?token=wrong-wrong-wrong")).not.toBe("welcome");
    expect(await register(`?token=${secret}`)).toBe("welcome");
    // Our own plugin proves itself with the user's token instead.
    await stage.plugin("one");
    expect((await stage.run(["exec", "6 * 7"])).stdout).toBe("42\n");
  }),
  60_000,
);

test(
  "[HO7] a host that leaves with nobody in line takes its settings with it, a foreground host always starts with its own",
  staged(async (stage) => {
    const first = await stage.serve("--auth", "none");
    await first.end("SIGTERM");
    const second = await stage.serve();
    const status = async () => JSON.parse((await stage.run(["status", "--json"])).stdout);
    expect(await status()).toMatchObject({ auth: "token" });
    await second.end("SIGKILL");
    await stage.serve("--auth", "none");
    expect(await status()).toMatchObject({ auth: "none" });
  }),
  60_000,
);

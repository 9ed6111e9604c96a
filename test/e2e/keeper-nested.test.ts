// What if an agent's shell uses holdfast itself? A host that it starts is nobody's child, and no end of an agent is its end.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prompt, withAgents } from "./agent-stage.ts";
import { isRunning } from "./leftovers.ts";
import { until } from "./until.ts";

const environmentOf = (pid: number): string[] => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");

test(
  "[KP7] [KP15] a host that an agent's shell starts in the background has no tag of it, and reconnect does not end it",
  withAgents(async (stage) => {
    const { port, directory } = stage;
    const [go, done] = [join(directory, "go"), join(directory, "done")];
    const shell = `while [ ! -e ${go} ]; do sleep 0.05; done; HOLDFAST_PORT=${port} holdfast sessions; echo $? >${done}`;
    await stage.run(prompt("work", `shell ${shell}`, "--detach"));
    await until("the shell tool", () => stage.agentProcesses().some(({ command }) => command.startsWith("sleep 0.05")));
    const host = stage.listener() ?? 0;
    process.kill(host, "SIGKILL");
    await until("its end", () => !isRunning(host));
    writeFileSync(go, "");
    await until("the command inside the agent", () => existsSync(done));
    expect(readFileSync(done, "utf8")).toBe("0\n");

    const next = (await stage.hostPid()) ?? 0;
    expect(environmentOf(next).filter((each) => each.startsWith("HOLDFAST_AGENT="))).toEqual([]);
    const reconnected = await stage.run(["reconnect", "demo"]);
    expect([reconnected.code, reconnected.stderr]).toEqual([0, expect.any(String)]);
    expect([isRunning(next), await stage.hostPid()]).toEqual([true, next]);
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
  }),
  60_000,
);

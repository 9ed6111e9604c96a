// Is what belongs elsewhere left alone? As long as somebody lives there, all of it; afterwards nobody of it is looked for.
import { describe, expect, test } from "bun:test";
import { unlessElsewhere } from "../../src/agents/left-alone.ts";
import type { AgentService } from "../../src/agents/service-needs.ts";
import { createHomes, homeFile } from "../../src/keeper/homes.ts";
import type { LeftAgent } from "../../src/platform/agent-world.ts";
import { Fault } from "../../src/protocol/fault.ts";
import type { Whereabouts } from "../../src/protocol/whereabouts.ts";
import { type KeeperWorld, openKeeperWorld } from "./keeper-world.ts";

const HERE: Whereabouts = { id: "here", machine: "m1", host: "one", boot: "b1", pids: "pid:[1]", net: "net:[1]" };
const THERE: Whereabouts = { ...HERE, id: "there", net: "net:[2]" };
const REMOTE: Whereabouts = { ...HERE, id: "remote", machine: "m2", host: "two", boot: "b2" };
const BEFORE: Whereabouts = { ...HERE, id: "before", boot: "b0" };

function openHomes(world: KeeperWorld, here: Whereabouts, held: Set<string>) {
  const { files } = world.machine;
  const log = world.machine.process().world.log;
  return createHomes({
    files,
    log,
    directory: "/state",
    here,
    hold: (path) => void held.add(path),
    isHeld: (path) => held.has(path),
  });
}

function startAgent(world: KeeperWorld, here: Whereabouts | undefined) {
  world.here = here;
  const host = world.machine.process();
  const keepers = world.keepersOf(host);
  const command = { agent: "demo", run: "run1", command: "demo", args: [], env: {}, cwd: "/" };
  keepers.spawn(command, { output() {} });
  world.machine.advance(50);
  return { host, keepers };
}

function takeOver(world: KeeperWorld, here: Whereabouts | undefined): LeftAgent[] {
  world.here = here;
  const left = world.keepersOf(world.machine.process()).left(new AbortController().signal);
  world.machine.wait(Promise.all(left.map(({ taken }) => taken)));
  return left;
}

describe("a home", () => {
  test("[KP13] that somebody elsewhere holds is theirs, with their agents; when nobody does, it is anybody's", () => {
    for (const [there, words] of [
      [THERE, "in another namespace of this machine"],
      [REMOTE, "on two"],
    ] as const) {
      const world = openKeeperWorld();
      const held = new Set<string>();
      openHomes(world, there, held).enter();
      startAgent(world, there);
      const ours = openHomes(world, HERE, held);
      expect(ours.others()).toEqual({ where: words, agents: ["demo"] });
      held.clear();
      expect(ours.others()).toBeUndefined();
    }
  });

  test("[KP13] of our own whereabouts, of an earlier boot or without a mark is nobody else's; of an earlier boot it goes", () => {
    const world = openKeeperWorld();
    const { files } = world.machine;
    const held = new Set<string>();
    for (const where of [HERE, BEFORE]) openHomes(world, where, held).enter();
    // Held it is somebody's who only looks like us before a restart.
    expect(openHomes(world, HERE, held).others()).toMatchObject({ where: "on one" });
    held.delete(homeFile("/state", BEFORE));
    files.replace("/state/homes/odd.json", "no json");
    expect(openHomes(world, HERE, held).others()).toBeUndefined();
    expect(files.list("/state/homes").sort()).toEqual(["here.json", "odd.json"]);
    expect(held.has(homeFile("/state", HERE))).toBe(true);
  });
});

describe("an agent that was left", () => {
  test("[KP13] by an earlier boot of this machine is gone, although a process with its marks runs: nobody is signalled", () => {
    const world = openKeeperWorld();
    startAgent(world, BEFORE);
    const [left] = takeOver(world, HERE);
    expect(left?.isGone).toBe(true);
    expect([world.held[0]?.agent.alive, world.keepers.length, world.swept]).toEqual([true, 1, []]);
    void left?.abandon();
    world.machine.advance(100);
    expect([world.held[0]?.agent.done, world.swept]).toEqual([[], []]);
  });

  test("[KP13] [KP10] here, or by a release without marks, is taken over as ever", () => {
    for (const where of [HERE, undefined]) {
      const world = openKeeperWorld();
      startAgent(world, where).host.kill();
      const [left] = takeOver(world, HERE);
      expect([left?.isGone, world.state().generation]).toEqual([false, 2]);
    }
  });
});

describe("a host whose port is in use elsewhere", () => {
  const openService = () => {
    const said: string[] = [];
    let elsewhere: { where: string; agents: string[] } | undefined = { where: "on two", agents: ["demo", "codex"] };
    let opened = 0;
    const inner = { asked: async () => "asked", leave: async () => {}, end: async () => {} } as Partial<AgentService>;
    const service = unlessElsewhere({
      port: 7,
      elsewhere: () => elsewhere,
      open() {
        opened++;
        return inner as AgentService;
      },
      warn: (message) => void said.push(message),
    });
    const free = (): void => {
      elsewhere = undefined;
    };
    const ask = (verb: "agents" | "sessions") =>
      service.asked({ clientId: "c", events() {} }, verb === "agents" ? { verb, env: {} } : { verb });
    return { service, said, ask, opened: () => opened, free };
  };

  test("[KP13] opens nothing, says whose agents it leaves alone, and refuses all else with what to do", async () => {
    const { ask, opened, said, service } = openService();
    expect(await ask("agents")).toMatchObject([
      { name: "demo", status: "elsewhere", pid: null },
      { name: "codex", status: "elsewhere", pid: null },
    ]);
    const refused = await ask("sessions").catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(Fault);
    expect((refused as Fault).message).toMatch(/port 7 are in use on two.*are left alone; choose another port/);
    expect([opened(), said.length, service.company()]).toEqual([0, 1, 0]);
    expect(await service.endAgents()).toEqual([(refused as Fault).message]);
  });

  test("[KP13] looks again when it is asked, and never when it has left", async () => {
    const one = openService();
    one.free();
    expect([await one.ask("sessions"), await one.ask("agents"), one.opened()]).toEqual(["asked", "asked", 1]);
    const other = openService();
    await other.service.leave(false);
    other.free();
    expect(await other.ask("sessions").catch((thrown: Fault) => thrown.code)).toBe("SESSION_DISCONNECTED");
    expect(other.opened()).toBe(0);
  });
});

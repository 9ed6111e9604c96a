// What does a host do when a newer one has its agents? It hands over to whoever stands in line, and leaves.
import { expect, test } from "bun:test";
import type { ServiceNeeds } from "../../src/bridge/ask-service.ts";
import type { EndingService } from "../../src/bridge/bridge.ts";
import { type Opened, open, PORT } from "../support/bridges.ts";
import { createMachine, type Machine } from "../support/fake-world.ts";

interface Served extends Opened {
  /** What was asked of its agents, and when the port was free again. */
  readonly done: string[];
  fence(): void;
}

/** As every process that may host: whoever asks it to stop makes it leave. */
function serve(machine: Machine): Served {
  const process = machine.process();
  const done: string[] = [];
  let needs: ServiceNeeds | undefined;
  let opened: Opened | undefined;
  const service: EndingService = {
    asked: async () => ({}),
    acknowledged() {},
    left() {},
    async leave(handsOver) {
      done.push(
        `leaves ${handsOver ? "to the next" : "alone"}, the port is ${machine.holder(PORT)?.pid === process.pid ? "its own" : "free"}`,
      );
    },
    async end() {
      done.push("ends");
    },
  };
  opened = open(machine, {
    process,
    service(_, given) {
      needs = given;
      return service;
    },
    listener: { stopAsked: () => void opened?.bridge.disconnect() },
  });
  return { ...opened, done, fence: () => process.enter(() => needs?.fenced()) };
}

test("[KP8] a fenced host says so, closes its journals before the port is free, and the first in line hosts", () => {
  const machine = createMachine();
  const [host, first, second] = [serve(machine), serve(machine), serve(machine)];
  host.fence();
  machine.until(() => second.bridge.isConnected && second.bridge.hostPid === first.process.pid);
  machine.advance(1_000);
  expect(machine.holder(PORT)?.pid).toBe(first.process.pid);
  // In good order: nobody took it for dead, and nobody waited for its place in line.
  expect(first.states).toEqual(["detecting-failure", "taking-over", "promoted"]);
  expect(host.done).toEqual(["leaves to the next, the port is its own", "ends"]);
  expect(host.process.log.map(({ message }) => message)).toContain("A newer host has our agents; this one leaves");
  expect([host.bridge.isConnected, first.bridge.role, second.bridge.role]).toEqual([false, "host", "client"]);
  expect([first.done, second.done]).toEqual([[], []]);
});

test("[KP8] with nobody in line it leaves too, and never hosts again", () => {
  const machine = createMachine();
  const host = serve(machine);
  host.fence();
  machine.advance(60_000);
  expect([machine.holder(PORT), host.done]).toEqual([undefined, ["leaves alone, the port is its own", "ends"]]);
});

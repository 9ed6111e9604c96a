// Is a plugin waited for that went with its host, and is what plugins say shown whatever it is?
import { describe, expect, test } from "bun:test";
import type { ConnectionEvents } from "../../src/bridge/connection.ts";
import type { Context } from "../../src/commands/context.ts";
import { timeOf } from "../../src/commands/logs.ts";
import { useSession } from "../../src/commands/plugin-session.ts";
import { createEmitter } from "../../src/core/emitter.ts";
import { Fault, SessionNotFoundError } from "../../src/protocol/fault.ts";
import { createMachine } from "../support/fake-world.ts";

function searching(timeout?: number) {
  const machine = createMachine();
  const { world } = machine.process();
  const emitter = createEmitter<ConnectionEvents>(() => {});
  const waits: number[] = [];
  const connection = {
    on: emitter.on,
    async resolveSession(_: unknown, waitMs: number) {
      waits.push(waitMs);
      await world.clock.sleep(waitMs);
      throw new SessionNotFoundError("No plugin is connected");
    },
  };
  const printer = { progress: () => ({ done() {} }) };
  const context = { world, printer, open: async () => connection } as unknown as Context;
  const args = { port: 1, noStart: true, ...(timeout === undefined ? {} : { timeout }) };
  const found = useSession(context, args, "execute").then(({ find }) => find());
  let fault: Fault | undefined;
  found.catch((thrown) => {
    fault = thrown;
  });
  machine.advance(0);
  return {
    machine,
    waits,
    fault: () => fault,
    hostFound: () => emitter.emit("host-found", { role: "client", hostPid: 2, tookMs: 1 }),
  };
}

describe("a plugin that is not there", () => {
  test("[CM3] is told as not found after 30 s", () => {
    const { machine, fault } = searching();
    machine.advance(30_001);
    expect(fault()?.exitCode).toBe(3);
  });

  test("[CM10] [CM3] is waited for anew when the host changed meanwhile: plugins come back after a moment", () => {
    const { machine, fault, waits, hostFound } = searching();
    machine.advance(29_000);
    hostFound();
    machine.advance(20_000);
    expect([fault(), waits.length]).toEqual([undefined, 2]);
    machine.advance(20_000);
    expect(fault()?.exitCode).toBe(3);
  });

  test("[CM10] [CM3] and did not come back to the next host within --timeout: exit 6, not 3", () => {
    const { machine, fault, hostFound } = searching(5_000);
    machine.advance(1_000);
    hostFound();
    machine.advance(5_000);
    expect(fault()).toBeInstanceOf(Fault);
    expect(fault()?.exitCode).toBe(6);
  });
});

test("[SC14] a time that is none is shown as the plugin said it", () => {
  const { world } = createMachine().process();
  expect(timeOf(world, 0)).toBe("1970-01-01T00:00:00.000Z");
  for (const odd of [1e300, -1e300, 8.64e12 + 1]) expect(timeOf(world, odd)).toBe(String(odd));
});

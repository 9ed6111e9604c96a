// Does every request end exactly once, and all of them when the peer does?
import { expect, test } from "bun:test";
import { createPending } from "../../src/rpc/pending.ts";
import { watch } from "../support/bridges.ts";
import { createMachine } from "../support/fake-world.ts";

function setUp() {
  const machine = createMachine();
  const pending = createPending<string>(machine.process().clock);
  const ask = (id: string, ms = 1_000) => pending.ask(id, ms, () => new Error(`${id} expired`));
  return { machine, pending, ask };
}

test("[CL1] an answer ends the request it belongs to, once", () => {
  const { machine, pending, ask } = setUp();
  const [one, two] = [ask("one"), ask("two")];
  const other = watch(two);
  expect(pending.answer("one", "yes")).toBe(true);
  expect(pending.answer("one", "again")).toBe(false);
  expect(pending.reject("one", new Error("late"))).toBe(false);
  expect(machine.wait(one)).toBe("yes");
  expect(other.state).toBe("pending");
  expect(pending.size).toBe(1);
  pending.answer("two", "");
});

test("[CL1] without an answer it expires at its time, not before", () => {
  const { machine, pending, ask } = setUp();
  const watched = watch(ask("one", 1_000));
  machine.advance(999);
  expect(watched.state).toBe("pending");
  machine.advance(1);
  expect(watched).toMatchObject({ state: "failed", error: new Error("one expired") });
  expect(pending.size).toBe(0);
  expect(pending.answer("one", "late")).toBe(false);
});

test("[IF1] when the peer ends every request is rejected at once, each with an error of its own", () => {
  const { machine, pending, ask } = setUp();
  const watched = ["a", "b", "c"].map((id) => watch(ask(id)));
  pending.rejectAll();
  expect(pending.size).toBe(0);
  machine.advance(0);
  expect(watched.map(({ error }) => (error as Error).message)).toEqual(["a expired", "b expired", "c expired"]);
});

test("[IF1] the timers of rejected and answered requests are cleared", () => {
  const machine = createMachine();
  const { clock } = machine.process();
  let running = 0;
  const pending = createPending<string>({
    ...clock,
    after(ms, run) {
      running++;
      const cancel = clock.after(ms, run);
      return () => {
        running--;
        cancel();
      };
    },
  });
  const asked = ["a", "b", "c"].map((id) => watch(pending.ask(id, 1_000, () => new Error("expired"))));
  expect(running).toBe(3);
  pending.answer("a", "");
  pending.rejectAll();
  expect(running).toBe(0);
  machine.advance(2_000);
  expect(asked.map(({ state }) => state)).toEqual(["done", "failed", "failed"]);
});

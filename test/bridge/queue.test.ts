// Does an iterator deliver everything in order, and end as it should?
import { expect, test } from "bun:test";
import { createQueue } from "../../src/bridge/queue.ts";
import { createMachine } from "../support/fake-world.ts";

test("[LB1] what was pushed before and while somebody waits comes in order", () => {
  const machine = createMachine();
  const queue = createQueue<number>();
  const items = queue.items();
  queue.push(1);
  queue.push(2);
  expect(machine.wait(items.next()).value).toBe(1);
  expect(machine.wait(items.next()).value).toBe(2);
  const third = items.next();
  queue.push(3);
  expect(machine.wait(third).value).toBe(3);
});

test("[IF2] a failure comes after what was pushed before it, and the first failure counts", () => {
  const machine = createMachine();
  const queue = createQueue<number>();
  const items = queue.items();
  queue.push(1);
  queue.fail(new Error("first"));
  queue.fail(new Error("second"));
  expect(machine.wait(items.next()).value).toBe(1);
  expect(() => machine.wait(items.next())).toThrow("first");
});

test("[IF2] somebody who waits hears of the failure at once", () => {
  const machine = createMachine();
  const queue = createQueue<number>();
  const waiting = queue.items().next();
  machine.advance(0);
  queue.fail(new Error("lost"));
  expect(() => machine.wait(waiting)).toThrow("lost");
});

test("[LB1] values that are falsy are values", () => {
  const machine = createMachine();
  const queue = createQueue<number | string | null>();
  const items = queue.items();
  for (const value of [0, "", null]) queue.push(value);
  expect([0, 1, 2].map(() => machine.wait(items.next()).value)).toEqual([0, "", null]);
});

// How does a frame wait for a slow receiver? Against a pipe that stops and drains on command.
import { expect, test } from "bun:test";
import { createOutbox, type Pipe } from "../../src/platform/outbox.ts";

/** A runtime with room for `room` bytes in the kernel, and a buffer of its own behind it. */
function createPipe() {
  const written: string[] = [];
  let room = Number.POSITIVE_INFINITY;
  let buffered = 0;
  let dropping = false;
  const pipe: Pipe = {
    send(text) {
      if (dropping) return 0;
      written.push(text);
      if (room >= text.length) {
        room -= text.length;
        return text.length;
      }
      buffered += text.length - room;
      room = 0;
      return -1;
    },
    buffered: () => buffered,
  };
  return {
    pipe,
    written,
    stop(bytes = 0) {
      room = bytes;
    },
    drain(bytes = Number.POSITIVE_INFINITY, thenRoom = 0) {
      buffered = Math.max(0, buffered - bytes);
      if (buffered === 0) room = thenRoom;
    },
    drop(isDropping: boolean) {
      dropping = isDropping;
    },
  };
}

function open(limitBytes = 1_000) {
  const runtime = createPipe();
  let overflows = 0;
  const outbox = createOutbox(runtime.pipe, limitBytes, () => void overflows++);
  return { ...runtime, outbox, overflows: () => overflows };
}

test("[LI2] while the receiver reads, each frame is written at once", () => {
  const { outbox, written } = open();
  for (const text of ["a", "b", "c"]) outbox.push(text);
  expect(written).toEqual(["a", "b", "c"]);
});

test("[LI2] at the first sign of backpressure frames wait with us, not in the runtime", () => {
  const { outbox, written, stop, drain } = open();
  stop(1);
  for (const text of ["aa", "bb", "cc"]) outbox.push(text);
  expect(written).toEqual(["aa"]);
  drain(Number.POSITIVE_INFINITY, 100);
  outbox.drained();
  expect(written).toEqual(["aa", "bb", "cc"]);
});

test("[LI2] a drain of part of the buffer writes nothing: the buffer would only grow again", () => {
  const { outbox, written, stop, drain } = open();
  stop(0);
  outbox.push("aaaa");
  outbox.push("bb");
  drain(1);
  outbox.drained();
  expect(written).toEqual(["aaaa"]);
});

test("[LI2] when the receiver stops again in the middle of a drain, the rest waits on, in order", () => {
  const { outbox, written, stop, drain } = open();
  stop(0);
  for (const text of ["a1", "b2", "c3", "d4", "e5"]) outbox.push(text);
  drain(Number.POSITIVE_INFINITY, 3);
  outbox.drained();
  expect(written).toEqual(["a1", "b2", "c3"]);
  outbox.push("f6");
  drain(Number.POSITIVE_INFINITY, 100);
  outbox.drained();
  expect(written).toEqual(["a1", "b2", "c3", "d4", "e5", "f6"]);
  outbox.push("g7");
  expect(written.at(-1)).toBe("g7");
});

test("[LI2] a frame that the runtime dropped is kept and written again, at a push and at a drain", () => {
  const { outbox, written, drop } = open();
  drop(true);
  outbox.push("a");
  outbox.push("b");
  outbox.drained();
  expect(written).toEqual([]);
  drop(false);
  outbox.drained();
  expect(written).toEqual(["a", "b"]);
});

test("[LI2] the limit counts bytes, what waits here and what the runtime holds, and is told once", () => {
  const { outbox, written, stop, overflows } = open(10);
  stop(0);
  outbox.push("1234");
  outbox.push("ää");
  outbox.push("x");
  expect(overflows()).toBe(0);
  outbox.push("x");
  expect(overflows()).toBe(0);
  outbox.push("x");
  expect(overflows()).toBe(1);
  expect(written).toEqual(["1234"]);
});

test("[LI2] what was written no longer counts", () => {
  const { outbox, stop, drain, overflows } = open(10);
  stop(0);
  for (let round = 0; round < 100; round++) {
    outbox.push("1234");
    outbox.push("5678");
    drain(Number.POSITIVE_INFINITY, 0);
    outbox.drained();
    drain();
    outbox.drained();
  }
  expect(overflows()).toBe(0);
});

test("[LI2] an overflow gives back what waited", () => {
  const { outbox, written, stop, drain } = open(10);
  stop(0);
  outbox.push("1234");
  outbox.push("1234567");
  drain(Number.POSITIVE_INFINITY, 100);
  outbox.drained();
  expect(written).toEqual(["1234"]);
});

test("[SD2] the end comes at once when nothing waits, and nothing is written after it", () => {
  const { outbox, written } = open();
  let ended = 0;
  outbox.push("a");
  outbox.finish(() => void ended++);
  outbox.push("b");
  expect({ ended, written }).toEqual({ ended: 1, written: ["a"] });
});

test("[SD2] the end waits until all that was pushed before it has left the runtime too", () => {
  const { outbox, written, stop, drain } = open();
  let ended = 0;
  stop(0);
  outbox.push("a");
  outbox.push("b");
  outbox.finish(() => void ended++);
  outbox.push("late");
  drain(Number.POSITIVE_INFINITY, 0);
  outbox.drained();
  expect({ ended, written }).toEqual({ ended: 0, written: ["a", "b"] });
  drain();
  outbox.drained();
  expect({ ended, written }).toEqual({ ended: 1, written: ["a", "b"] });
});

test("[LI2] after clear nothing that waited is written", () => {
  const { outbox, written, stop, drain } = open();
  stop(0);
  outbox.push("a");
  outbox.push("b");
  outbox.clear();
  drain(Number.POSITIVE_INFINITY, 100);
  outbox.drained();
  expect(written).toEqual(["a"]);
});

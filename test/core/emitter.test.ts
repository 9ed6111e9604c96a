// Does everybody hear, though one of them throws?
import { expect, test } from "bun:test";
import { createEmitter } from "../../src/core/emitter.ts";

test("[LB1] a listener that throws does not keep the others from hearing, and is told", () => {
  const failed: unknown[] = [];
  const heard: string[] = [];
  const emitter = createEmitter<{ news: string }>((thrown) => void failed.push(thrown));
  const wrong = new Error("mine");
  emitter.on("news", () => {
    throw wrong;
  });
  emitter.on("news", (news) => void heard.push(news));
  emitter.emit("news", "hello");
  expect(heard).toEqual(["hello"]);
  expect(failed).toEqual([wrong]);
});

test("[LB1] a listener taken out hears no more, even when it goes while being told", () => {
  const heard: string[] = [];
  const emitter = createEmitter<{ news: string }>(() => {});
  const off = emitter.on("news", (news) => {
    heard.push(news);
    off();
  });
  emitter.on("news", (news) => void heard.push(`second ${news}`));
  emitter.emit("news", "1");
  emitter.emit("news", "2");
  expect(heard).toEqual(["1", "second 1", "second 2"]);
});

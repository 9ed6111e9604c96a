// Is each push told to those who want it, and the plugin left alone when nobody does?
import { expect, test } from "bun:test";
import { createSubscriptions } from "../../src/core/subscriptions.ts";

test("[PL7] pushes go only to clients that subscribed to that event of that session", () => {
  const subscriptions = createSubscriptions();
  subscriptions.add("s1", "a", ["logPush", "stateChange"]);
  subscriptions.add("s1", "b", ["logPush"]);
  expect(subscriptions.subscribers("s1", "logPush")).toEqual(["a", "b"]);
  expect(subscriptions.subscribers("s1", "stateChange")).toEqual(["a"]);
  expect(subscriptions.subscribers("s2", "logPush")).toEqual([]);
});

test("[PL7] only the last one out leaves an event without anybody", () => {
  const subscriptions = createSubscriptions();
  subscriptions.add("s1", "a", ["logPush"]);
  subscriptions.add("s1", "a", ["logPush"]);
  subscriptions.add("s1", "b", ["logPush"]);
  expect(subscriptions.remove("s1", "a", ["logPush"])).toEqual([]);
  expect(subscriptions.remove("s1", "a", ["logPush"])).toEqual([]);
  expect(subscriptions.remove("s1", "b", ["logPush", "never"])).toEqual(["logPush"]);
  expect(subscriptions.subscribers("s1", "logPush")).toEqual([]);
});

test("[PL7] a client that goes is taken out of every session, and what it alone wanted is named", () => {
  const subscriptions = createSubscriptions();
  subscriptions.add("s1", "a", ["logPush", "output"]);
  subscriptions.add("s1", "b", ["output"]);
  subscriptions.add("s2", "a", ["stateChange"]);
  subscriptions.add("s3", "b", ["stateChange"]);
  expect(subscriptions.removeClient("a")).toEqual([
    { sessionId: "s1", events: ["logPush"] },
    { sessionId: "s2", events: ["stateChange"] },
  ]);
  expect(subscriptions.subscribers("s3", "stateChange")).toEqual(["b"]);
});

test("[RC3] a session that ends takes its subscriptions with it", () => {
  const subscriptions = createSubscriptions();
  subscriptions.add("s1", "a", ["logPush"]);
  subscriptions.removeSession("s1");
  expect(subscriptions.subscribers("s1", "logPush")).toEqual([]);
  expect(subscriptions.remove("s1", "a", ["logPush"])).toEqual([]);
});

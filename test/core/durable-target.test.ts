// How is an element found again without its ref?
import { expect, test } from "bun:test";
import { durableStep, durableTarget } from "../../src/core/durable-target.ts";

const TREE = `- generic [ref=e1]:
  - heading "Shop" [level=1] [ref=e2]
  - button "Buy" [ref=e3]
  - button "Buy" [ref=e4] [cursor=pointer]
  - textbox "Name" [active] [ref=e5]: Ada
  - 'link "Say \\"hi\\": now" [ref=e6]'
  - iframe [ref=e7]:
    - button "Inside" [ref=f1e2]`;

test("[BN4] a ref becomes role and name, with a number where there are several of them", () => {
  expect(durableTarget(TREE, { ref: "e5" })).toEqual({ role: "textbox", name: "Name" });
  expect(durableTarget(TREE, { ref: "e4" })).toEqual({ role: "button", name: "Buy", nth: 1 });
  expect(durableTarget(TREE, { ref: "e6" })).toEqual({ role: "link", name: 'Say "hi": now' });
  expect(durableTarget(TREE, { ref: "f1e2" })).toEqual({ role: "button", name: "Inside" });
  expect(durableTarget(TREE, { ref: "e99" })).toBeUndefined();
});

test("[BN4] what needs no element is written down as it is, and the brain's own words are not", () => {
  const goto = { action: "goto", url: "http://a/" } as const;
  expect(durableStep(TREE, goto)).toEqual(goto);
  expect(durableStep(TREE, { action: "click", target: { ref: "e3" } })).toEqual({
    action: "click",
    target: { role: "button", name: "Buy", nth: 0 },
  });
  expect(durableStep(TREE, { action: "done", answer: "x" })).toBeUndefined();
});

// Does a prompt with more than text reach the agent, or is it said what cannot be taken?
import { expect, test } from "bun:test";
import { promptText } from "../../src/core/prompt-text.ts";

const text = (value: string) => ({ type: "text", text: value });

test("[PX1] texts are joined as they are", () => {
  expect(promptText([text("a "), text("b")])).toEqual({ kind: "text", text: "a b" });
});

test("[PX1] a link is told by its address, a text resource with all it holds", () => {
  const link = { type: "resource_link", name: "a.ts", uri: "file:///a.ts" };
  const nameless = { type: "resource_link", uri: "file:///b.ts" };
  const file = { type: "resource", resource: { uri: "file:///c.ts", text: "let c = 1" } };
  expect(promptText([text("see "), link, text(" "), nameless, file])).toEqual({
    kind: "text",
    text: 'see [a.ts](file:///a.ts) file:///b.ts\n<context uri="file:///c.ts">\nlet c = 1\n</context>\n',
  });
});

test.each([
  ["an image", { type: "image", data: "", mimeType: "image/png" }, /Block 2 of the prompt is "image"/],
  ["a blob", { type: "resource", resource: { uri: "x", blob: "" } }, /a resource without text/],
  ["nothing", null, /no content block/],
])("[PX1] %s is refused by name", (_, block, message) => {
  expect(promptText([text("a"), block])).toEqual({ kind: "wrong", message: expect.stringMatching(message) });
});

test("[PX1] an empty prompt, and one that is no list, are refused", () => {
  for (const blocks of [[], "hello", undefined]) expect(promptText(blocks).kind).toBe("wrong");
});

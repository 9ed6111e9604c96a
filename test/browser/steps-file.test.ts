// Is what is written about steps files true?
import { expect, test } from "bun:test";
import { join } from "node:path";
import { readStepsFile } from "../../src/browser/steps-file.ts";
import { stepsFileSchema } from "../../src/protocol/web-task.ts";

const README = await Bun.file(join(import.meta.dir, "../../README.md")).text();

test("[BN1] the three examples of the README are right", () => {
  const examples = [...README.matchAll(/```json\n([\s\S]*?)```/g)]
    .map(([, text]) => text ?? "")
    .filter((text) => text.includes('"steps"'));
  expect(examples).toHaveLength(3);
  for (const text of examples) expect(readStepsFile("README.md", text).steps.length).toBeGreaterThan(3);
});

test("[BN1] every action of the rule is in the schema, and refs, which last one snapshot, are not", () => {
  const schema = JSON.stringify(stepsFileSchema());
  const actions = [
    "goto",
    "click",
    "fill",
    "select",
    "check",
    "press",
    "upload",
    "wait",
    "expect",
    "extract",
    "screenshot",
  ];
  for (const action of actions) expect(schema).toContain(`"const":"${action}"`);
  expect(schema).not.toContain('"ref"');
});

test("[BN1] a target needs exactly one way to be found", () => {
  const file = (target: unknown) => JSON.stringify({ steps: [{ action: "click", target }] });
  for (const wrong of [{}, { ref: "e1" }, { role: "button", css: "b" }, { name: "Save" }])
    expect(() => readStepsFile("f", file(wrong))).toThrow('"f" line 1');
  expect(readStepsFile("f", file({ role: "button", name: "Save", nth: 1 })).steps).toHaveLength(1);
});

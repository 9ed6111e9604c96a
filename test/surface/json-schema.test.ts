// Do programs see the same arguments as people? Each kind as JSON Schema, and of every command.
import { expect, test } from "bun:test";
import { COMMANDS } from "../../src/commands/table.ts";
import { jsonSchemaOf } from "../../src/surface/json-schema.ts";
import { sample } from "./sample.ts";

const schema = jsonSchemaOf(sample.args);

test("what must be given is required, and nothing unknown is let in", () => {
  expect(schema).toMatchObject({ type: "object", required: ["agent"], additionalProperties: false });
  expect(Object.keys(schema.properties)).toEqual(Object.keys(sample.args));
});

test.each([
  ["agent", { type: "string", description: "Which agent, by name" }],
  ["session", { type: "string", pattern: "^.{2,}$", description: "The session to go on with" }],
  ["permissions", { type: "string", enum: ["ask", "allow", "deny"], default: "ask" }],
  [
    "timeout",
    {
      anyOf: [
        { type: "string", pattern: "^(\\d+(?:\\.\\d+)?)(ms|s|m|h)?$" },
        { type: "number", minimum: 0 },
      ],
    },
  ],
  ["pluginToken", { anyOf: [{ const: true }, { type: "string", minLength: 1 }] }],
  ["watch", { type: "boolean", default: false }],
  ["links", { type: "boolean", default: true }],
  ["header", { type: "array", items: { type: "string" }, default: [] }],
  ["level", { type: "array", items: { type: "string", enum: ["info", "error"] } }],
  ["count", { type: "integer", minimum: 1 }],
  ["ratio", { type: "number", minimum: -1, maximum: 1 }],
])("%s has its type, its limits and its default", (key, wanted) => {
  expect(schema.properties[key]).toMatchObject(wanted);
});

test("every argument of every command is described", async () => {
  for (const { load } of Object.values(COMMANDS)) {
    const { args, name } = await load();
    for (const [key, property] of Object.entries(jsonSchemaOf(args).properties))
      expect(`${name} ${key}: ${property["description"]}`).toMatch(/: [A-Z]/);
  }
});

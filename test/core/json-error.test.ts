// Is the place of a mistake in JSON the true one, and is nothing called wrong that is right?
import { expect, test } from "bun:test";
import { findJsonError } from "../../src/core/json-error.ts";

test.each([
  ["", 1, 1, "expected a value, the text ends"],
  ["{", 1, 2, "expected a key in double quotes, the text ends"],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}", found "\\""'],
  ['{\n  "a": 1,\n}', 2, 9, 'a comma stands before "}"'],
  ["[1, 2", 1, 6, 'expected "," or "]", the text ends'],
  ["{ a: 1 }", 1, 3, 'expected a key in double quotes, found "a"'],
  ['{ "a" 1 }', 1, 7, 'expected ":" after the key, found "1"'],
  ['{\r\n\t"a": tru }', 2, 7, 'expected a value, found "t"'],
  ['["a\nb"]', 1, 2, 'this text in quotes is not ended or holds a bad escape: "a'],
  ['{"a": 01}', 1, 8, 'expected "," or "}", found "1"'],
  ["1 2", 1, 3, 'expected nothing more, found "2"'],
  ["// c\n{}", 1, 1, 'expected a value, found "/"'],
])("[CM6] %j: line %i, column %i", (text, line, column, why) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findJsonError(text)).toEqual({ line, column, why });
});

test.each(['{"a":[1,-2.5e3,"\\u00e9\\n",true,false,null,{}],"b":{"c":[]}}', " [ ] ", '"x"', "0", "-0.1E-2"])(
  "[CM6] %j is right",
  (text) => {
    JSON.parse(text);
    expect(findJsonError(text)).toBeUndefined();
  },
);

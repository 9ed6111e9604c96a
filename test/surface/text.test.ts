import { describe, expect, test } from "bun:test";
import { type Column, formatDuration, formatTable, paint, stripControls } from "../../src/surface/text.ts";
import { clip, width } from "../../src/surface/width.ts";

describe("control sequences", () => {
  test.each([
    ["colour", "a\x1b[31mb\x1b[0mc", "abc"],
    ["cursor movement and erasing", "a\x1b[2J\x1b[1;1H\x1b[?25lb", "ab"],
    ["CSI with intermediates", "a\x1b[1 qb\x1b[>4;2mc", "abc"],
    ["CSI as one C1 character", "a\x9b31mb", "ab"],
    ["CSI that never ends", "a\x1b[31", "a"],
    ["a title ended by BEL", "a\x1b]0;title\x07b", "ab"],
    ["a title ended by ST", "a\x1b]0;title\x1b\\b", "ab"],
    ["a title ended by C1 ST", "a\x9d0;title\x9cb", "ab"],
    ["the clipboard", "a\x1b]52;c;cm0gLXJm\x07b", "ab"],
    ["a link", "a\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\b", "atextb"],
    ["DCS", "a\x1bP1$r0m\x1b\\b", "ab"],
    ["a DCS over two lines", "a\x1bPq#0\n#1\x1b\\b", "ab"],
    ["APC", "a\x1b_Gf=100;AAAA\x1b\\b", "ab"],
    ["PM", "a\x1b^hidden\x1b\\b", "ab"],
    ["SOS", "a\x1bXhidden\x1b\\b", "ab"],
    ["a reset", "a\x1bcb", "ab"],
    ["a character set", "a\x1b(0b", "ab"],
    ["an escape at the end", "a\x1b", "a"],
    ["bell, backspace, delete and null", "a\x07\b\x7f\0b", "ab"],
    ["C1", "a\x84\x85\x8db", "ab"],
    ["marks that reorder what is read", "a\u202eb\u2066c\u2069", "abc"],
  ])("[SC7] %s is removed", (_, text, clean) => {
    expect(stripControls(text)).toBe(clean);
  });

  test("[SC7] a string that never ends hides the rest of its line, and no more", () => {
    expect(stripControls("a\x1b]0;title\nb")).toBe("a\nb");
    expect(stripControls("a\x1bPdata")).toBe("a");
  });

  test("[SC7] a return cannot overwrite what stands before it", () => {
    expect(stripControls("rm -rf /\rls")).toBe("rm -rf /\nls");
    expect(stripControls("one\r\ntwo\r\n")).toBe("one\ntwo\n");
  });

  test("[SC7] removing one sequence does not make another", () => {
    expect(stripControls("\x1b\x1b[31m[31mx")).toBe("[31mx");
    expect(stripControls("\x1b\x07[2Jx")).toBe("[2Jx");
  });

  test("[SC7] text, new lines, tabs, emoji and other scripts stay", () => {
    const text = "Grüße\t日本語 👩‍👩‍👧 שלום\n[31m ]0; — \u00a0é";
    expect(stripControls(text)).toBe(text);
  });

  test("[SC7] no mixture of controls gets through", () => {
    const parts = [
      "\x1b",
      "[",
      "]",
      "P",
      "\\",
      "\x07",
      "\x9b",
      "\x9c",
      "\x9d",
      "\r",
      "\n",
      "m",
      "1",
      ";",
      "?",
      "\0",
      "é",
    ];
    let seed = 7;
    const next = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed / 2147483648;
    };
    for (let round = 0; round < 5000; round++) {
      const text = Array.from({ length: 12 }, () => parts[Math.floor(next() * parts.length)]).join("");
      expect(stripControls(text)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    }
  });

  test("[SC7] a long hostile text takes time by its length, not by its square", () => {
    const many = 300_000;
    const text = ["\x1b]0;a".repeat(many), "\x1bP".repeat(many), "\x1b]", "x".repeat(many)].join("");
    const start = performance.now();
    expect(stripControls(text)).toBe("");
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

test.each([
  [-5, "0 ms"],
  [350.7, "350 ms"],
  [1000, "1 s"],
  [59_999, "59 s"],
  [60_000, "1 m"],
  [192_000, "3 m 12 s"],
  [3_600_000, "1 h"],
  [7_500_000, "2 h 5 m"],
  [3_605_000, "1 h"],
  [273_600_000, "3 d 4 h"],
])("%d milliseconds are told as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("[CM1] paint colours only where colour is wanted", () => {
  expect(paint(true).red("x")).toBe("\x1b[31mx\x1b[0m");
  expect(paint(false).red("x")).toBe("x");
});

test.each([
  ["abc", 3],
  ["日本", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["✔", 1],
  ["✔️", 2],
  ["한글", 4],
  ["", 0],
])("%s takes %d columns", (text, columns) => {
  expect(width(text)).toBe(columns);
});

test("a text is clipped by columns, not by characters", () => {
  expect(clip("abcdef", 4)).toBe("abc…");
  expect(clip("日本語", 4)).toBe("日…");
  expect(clip("日本", 4)).toBe("日本");
  expect(clip("abc", 0)).toBe("");
});

describe("tables", () => {
  interface Row {
    id: string;
    name: string;
    age: number;
  }
  const rows: Row[] = [
    { id: "0123456789abcdef", name: "日本", age: 5 },
    { id: "fedcba9876543210", name: "demo", age: 120 },
  ];
  const columns: Column<Row>[] = [
    { title: "ID", value: ({ id }) => id, tone: ({ age }) => (age > 9 ? "yellow" : undefined) },
    { title: "NAME", value: ({ name }) => name },
    { title: "AGE", value: ({ age }) => age, align: "right" },
  ];

  test("columns line up by what is seen, and no line ends in spaces", () => {
    expect(formatTable(rows, columns)).toBe(
      ["ID                NAME  AGE", "0123456789abcdef  日本    5", "fedcba9876543210  demo  120"].join("\n"),
    );
    expect(formatTable([{ id: "x", name: "", age: 0 }], columns.slice(0, 2))).toBe("ID  NAME\nx");
  });

  test("[CM1] without a terminal ids are whole, on one they are shortened to fit", () => {
    expect(formatTable(rows, columns)).toContain("0123456789abcdef");
    const narrow = formatTable(rows, columns, { width: 20 });
    expect(narrow).toContain("01234567…");
    expect(Math.max(...narrow.split("\n").map(width))).toBe(20);
    expect(formatTable(rows, columns, { width: 200 })).toBe(formatTable(rows, columns));
  });

  test("colour changes nothing about the layout", () => {
    const colored = formatTable(rows, columns, { color: true });
    expect(colored).toContain("\x1b[33mfedcba9876543210\x1b[0m");
    expect(colored).toContain("\x1b[1mID");
    expect(
      stripControls(colored)
        .split("\n")
        .map((line) => line.trimEnd()),
    ).toEqual(formatTable(rows, columns).split("\n"));
  });

  test("a cell with line breaks cannot forge a row", () => {
    expect(formatTable([{ id: "a\nb\r\tc", name: "n", age: 1 }], columns).split("\n")).toHaveLength(2);
  });
});

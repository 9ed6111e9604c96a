// Are lines cut right, however the bytes come? Whole lines only, with their offsets; a long one costs nothing but itself.
import { describe, expect, test } from "bun:test";
import { createLineSplitter, MAX_LINE_BYTES } from "../../src/rpc/lines.ts";
import { createDice } from "../support/dice.ts";

interface Heard {
  text: string;
  offset: number;
}

function listen(maxBytes?: number, startOffset?: number) {
  const lines: Heard[] = [];
  const dropped: { bytes: number; offset: number }[] = [];
  const splitter = createLineSplitter(
    {
      line: (text, offset) => void lines.push({ text, offset }),
      tooLong: (bytes, offset) => void dropped.push({ bytes, offset }),
    },
    maxBytes,
    startOffset,
  );
  return { lines, dropped, splitter, push: (text: string) => splitter.push(Buffer.from(text)) };
}

describe("lines", () => {
  test("[AC1] half a line is told when its other half has come, and never before", () => {
    const { lines, push } = listen();
    push('{"id":1,');
    expect(lines).toEqual([]);
    push('"result":2}\n{"id"');
    expect(lines).toEqual([{ text: '{"id":1,"result":2}', offset: 0 }]);
  });

  test("[AC1] a line end of two characters is no part of the line, and counts in the offset", () => {
    const { lines, push } = listen();
    push("one\r\ntwo\n\n");
    expect(lines).toEqual([
      { text: "one", offset: 0 },
      { text: "two", offset: 5 },
      { text: "", offset: 9 },
    ]);
  });

  test("[AC1] a character of several bytes may be cut anywhere", () => {
    const { lines, splitter } = listen();
    for (const byte of Buffer.from("grüße 🦀\n")) splitter.push(Uint8Array.of(byte));
    expect(lines.map(({ text }) => text)).toEqual(["grüße 🦀"]);
  });

  test("[AC1] what was pushed is kept although its buffer is used again", () => {
    const { lines, splitter } = listen();
    const buffer = Buffer.from("half");
    splitter.push(buffer);
    buffer.fill("x");
    splitter.push(Buffer.from(" and whole\n"));
    expect(lines[0]?.text).toBe("half and whole");
  });

  test("[SE3] offsets are those of the bytes in the stream, however they were cut, also from a start of one's own", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const dice = createDice(seed);
      const texts = Array.from({ length: 20 }, () => "é".repeat(dice.whole(0, 30)));
      const stream = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      const { lines, splitter } = listen(undefined, 1_000);
      for (let at = 0; at < stream.length; ) {
        const next = at + dice.whole(1, 25);
        splitter.push(new Uint8Array(stream.subarray(at, next)));
        at = next;
      }
      expect(lines.map(({ text }) => text)).toEqual(texts);
      for (const { text, offset } of lines) {
        expect(stream.toString("utf8", offset - 1_000, offset - 1_000 + Buffer.byteLength(text))).toBe(text);
      }
      expect(splitter.offset).toBe(1_000 + stream.length);
    }
  });

  test("[AC1] a line at the limit is told, one byte more is dropped, and the next line is read", () => {
    const { lines, dropped, push } = listen(10);
    push("0123456789\n0123456789x\nnext\n");
    expect(lines.map(({ text }) => text)).toEqual(["0123456789", "next"]);
    expect(dropped).toEqual([{ bytes: 11, offset: 11 }]);
  });

  test("[AC1] the limit is 16 MiB; a line of 40 MB in pieces is dropped with its size, kept nowhere, and the next is read", () => {
    expect(MAX_LINE_BYTES).toBe(16 * 1024 * 1024);
    const { lines, dropped, splitter, push } = listen();
    const piece = new Uint8Array(64 * 1024).fill(97);
    push('{"before":1}\n');
    Bun.gc(true);
    const before = process.memoryUsage().external;
    for (let sent = 0; sent < 40_000_000; sent += piece.length) splitter.push(piece);
    Bun.gc(true);
    expect(process.memoryUsage().external - before).toBeLessThan(1_000_000);
    push('\n{"after":1}\n');
    expect(lines.map(({ text }) => text)).toEqual(['{"before":1}', '{"after":1}']);
    expect(dropped).toHaveLength(1);
    expect(dropped[0]?.bytes).toBeGreaterThanOrEqual(40_000_000);
    expect(lines[1]?.offset).toBe((dropped[0]?.offset ?? 0) + (dropped[0]?.bytes ?? 0) + 1);
  });
});

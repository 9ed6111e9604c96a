// Is what the encoder writes a PNG? Read back chunk by chunk, as any viewer would.
import { expect, test } from "bun:test";
import { crc32, inflateSync } from "node:zlib";
import { pngOfRgba } from "../../src/surface/png.ts";

interface Chunk {
  type: string;
  data: Buffer;
}

function readChunks(png: Uint8Array): Chunk[] {
  const bytes = Buffer.from(png);
  expect([...bytes.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks: Chunk[] = [];
  let at = 8;
  while (at < bytes.length) {
    const size = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 4, at + 8 + size);
    expect(bytes.readUInt32BE(at + 8 + size)).toBe(crc32(body));
    chunks.push({ type: body.toString("latin1", 0, 4), data: body.subarray(4) });
    at += 12 + size;
  }
  return chunks;
}

function readPixels(png: Uint8Array): { width: number; height: number; pixels: number[] } {
  const [header, data, end] = readChunks(png) as [Chunk, Chunk, Chunk];
  expect([header.type, data.type, end.type]).toEqual(["IHDR", "IDAT", "IEND"]);
  expect(header.data).toHaveLength(13);
  // Eight bits, RGBA, deflate, the five filters, not interlaced.
  expect([...header.data.subarray(8)]).toEqual([8, 6, 0, 0, 0]);
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  const rows = inflateSync(data.data);
  const stride = 1 + width * 4;
  expect(rows).toHaveLength(stride * height);
  const pixels: number[] = [];
  for (let row = 0; row < height; row++) {
    expect(rows[row * stride]).toBe(0);
    pixels.push(...rows.subarray(row * stride + 1, (row + 1) * stride));
  }
  return { width, height, pixels };
}

test("[PL4] raw pixels become a PNG that holds the same pixels", () => {
  const pixels = Uint8Array.from({ length: 5 * 3 * 4 }, (_, at) => (at * 37) % 256);
  expect(readPixels(pngOfRgba(pixels, 5, 3))).toEqual({ width: 5, height: 3, pixels: [...pixels] });
});

test("[PL4] a single pixel and a whole screenshot work alike", () => {
  expect(readPixels(pngOfRgba(Uint8Array.of(1, 2, 3, 4), 1, 1)).pixels).toEqual([1, 2, 3, 4]);
  const large = new Uint8Array(1024 * 1024 * 4).fill(200);
  const png = pngOfRgba(large, 1024, 1024);
  expect(png.length).toBeLessThan(large.length / 100);
  expect(readChunks(png).map(({ type }) => type)).toEqual(["IHDR", "IDAT", "IEND"]);
});

test("[PL4] pixels that do not fit width and height are an error that says so", () => {
  expect(() => pngOfRgba(new Uint8Array(7), 1, 1)).toThrow("7 bytes are not 1 × 1 pixels");
  expect(() => pngOfRgba(new Uint8Array(16), 1, 2)).toThrow("16 bytes are not 1 × 2 pixels");
});

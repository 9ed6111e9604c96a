// Where does a line begin and end in a stream of bytes? Offsets are told, so that a reader can go on from there.

export interface LineEvents {
  /** `offset` is where the line begins in the stream. */
  line(text: string, offset: number): void;
  /** Longer than the limit: dropped, up to and with its end. */
  tooLong(bytes: number, offset: number): void;
}

export interface LineSplitter {
  push(bytes: Uint8Array): void;
  /** Where the next whole line will begin. */
  readonly offset: number;
  /** The last line has no end yet. */
  readonly isInside: boolean;
}

export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 10;
const RETURN = 13;

export function createLineSplitter(events: LineEvents, maxBytes = MAX_LINE_BYTES, startOffset = 0): LineSplitter {
  let parts: Uint8Array[] = [];
  let length = 0;
  let dropping = false;
  let offset = startOffset;

  const finish = (rest: Uint8Array): void => {
    const bytes = length + rest.length;
    const begin = offset;
    offset += bytes + 1;
    const whole = parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
    parts = [];
    length = 0;
    if (dropping || bytes > maxBytes) {
      dropping = false;
      return events.tooLong(bytes, begin);
    }
    const end = whole.at(-1) === RETURN ? whole.length - 1 : whole.length;
    events.line(Buffer.from(whole.buffer, whole.byteOffset, end).toString("utf8"), begin);
  };

  return {
    push(bytes) {
      let from = 0;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        finish(bytes.subarray(from, at));
        from = at + 1;
      }
      if (from === bytes.length) return;
      const rest = bytes.subarray(from);
      length += rest.length;
      if (length > maxBytes) dropping = true;
      if (dropping) parts = [];
      // Copied: `slice` of a Buffer would be a view of memory that its owner may use again.
      else parts.push(new Uint8Array(rest));
    },
    get offset() {
      return offset;
    },
    get isInside() {
      return length > 0;
    },
  };
}

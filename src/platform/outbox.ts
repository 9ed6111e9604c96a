// How does a frame wait for a slow receiver? In a queue of our own: past its limit the runtime drops frames in silence.

export interface Pipe {
  /** As Bun's `ws.send`: bytes written, -1 when it went into the runtime's buffer, 0 when it was dropped. */
  send(text: string): number;
  buffered(): number;
}

export interface Outbox {
  push(text: string): void;
  drained(): void;
  /** Runs `end` when all that was pushed is written; what is pushed after this is not. */
  finish(end: () => void): void;
  clear(): void;
}

export function createOutbox(pipe: Pipe, limitBytes: number, overflow: () => void): Outbox {
  let waiting: string[] = [];
  let bytes = 0;
  let blocked = false;
  let ending: (() => void) | undefined;

  const write = (text: string): boolean => {
    const sent = pipe.send(text);
    if (sent <= 0) blocked = true;
    return sent !== 0;
  };

  return {
    push(text) {
      if (ending) return;
      if (!blocked && write(text)) return;
      waiting.push(text);
      bytes += Buffer.byteLength(text);
      if (bytes + pipe.buffered() <= limitBytes) return;
      waiting = [];
      bytes = 0;
      overflow();
    },
    drained() {
      // `drain` fires for part of the buffer too: writing on then would only grow it again.
      if (pipe.buffered() > 0) return;
      blocked = false;
      let next = 0;
      while (next < waiting.length && !blocked) {
        const text = waiting[next] as string;
        if (!write(text)) break;
        bytes -= Buffer.byteLength(text);
        next++;
      }
      waiting = waiting.slice(next);
      if (!blocked) ending?.();
    },
    finish(end) {
      ending ??= end;
      if (!blocked) ending();
    },
    clear() {
      waiting = [];
      bytes = 0;
    },
  };
}

import { describe, expect, test } from "bun:test";
import { createTerminal } from "../../src/platform/terminal.ts";
import { Fault } from "../../src/protocol/fault.ts";
import type { Format } from "../../src/surface/command.ts";
import { createPrinter, type Output } from "../../src/surface/print.ts";
import { fakeClock, fakeOutput, onTerminal } from "./fakes.ts";

function setUp(format: Format, options: Parameters<typeof fakeOutput>[0] = {}) {
  const clock = fakeClock();
  const terminal = fakeOutput(options);
  return { clock, terminal, printer: createPrinter({ terminal, format, clock }) };
}

describe("where output goes", () => {
  test("[CM1] in text mode results are on stdout, notes on stderr, and documents and events nowhere", () => {
    const { terminal, printer } = setUp("text");
    printer.line("result");
    printer.note("note");
    printer.json({ a: 1 });
    printer.event("message", { a: 1 });
    printer.event("message", { a: 1 }, { text: "said" });
    printer.table([{ a: 1 }], [{ title: "A", value: ({ a }) => a }]);
    expect(terminal.stdout()).toBe("result\nsaid\nA\n1\n");
    expect(terminal.stderr()).toBe("note\n");
  });

  test("[CM1] in JSON mode stdout has the document and nothing else", () => {
    const { terminal, printer } = setUp("json", onTerminal);
    printer.line("result");
    printer.note("note");
    printer.untrusted("said");
    printer.table([{ a: 1 }], [{ title: "A", value: ({ a }) => a }]);
    printer.json({ a: 1 });
    expect(terminal.stdout()).toBe('{"a":1}\n');
    expect(terminal.stderr()).toBe("note\n");
  });

  test("[CM1] JSON mode has one document, or events, never both", () => {
    const twice = setUp("json").printer;
    twice.json(1);
    expect(() => twice.json(2)).toThrow("one document");
    expect(() => twice.event("a", {})).toThrow("one document");
    const stream = setUp("json").printer;
    stream.event("a", {});
    expect(() => stream.json(1)).toThrow("one document");
  });

  test("[CM1] events are one per line, of one shape, counted from 1", () => {
    const { clock, terminal, printer } = setUp("json");
    printer.event("started", { name: "x" });
    clock.advance(5);
    printer.event("text", { text: "a\nb" }, { text: "not in JSON" });
    expect(terminal.stdout()).toBe(
      '{"seq":1,"at":"T0","type":"started","data":{"name":"x"}}\n{"seq":2,"at":"T5","type":"text","data":{"text":"a\\nb"}}\n',
    );
  });

  test("[CM1] an event of a journal keeps its own number and time, with from beside seq", () => {
    const { terminal, printer } = setUp("json");
    printer.event("text", {}, { seq: 9, from: 4, at: "2026-01-01T00:00:00.000Z" });
    printer.event("end", {});
    expect(terminal.stdout()).toBe(
      '{"seq":9,"from":4,"at":"2026-01-01T00:00:00.000Z","type":"text","data":{}}\n{"seq":10,"at":"T0","type":"end","data":{}}\n',
    );
  });

  test("[CM1] there is never colour in JSON, and in text only where the terminal has it", () => {
    expect(setUp("json", onTerminal).printer.paint.red("x")).toBe("x");
    expect(setUp("text").printer.paint.red("x")).toBe("x");
    expect(setUp("text", onTerminal).printer.paint.red("x")).toBe("\x1b[31mx\x1b[0m");
  });

  test("[CM1] tables are cut to the terminal, and whole in a pipe", () => {
    const row = { id: "0123456789" };
    const columns = [{ title: "ID", value: ({ id }: typeof row) => id }];
    const narrow = setUp("text", { ...onTerminal, color: false, columns: 6 });
    narrow.printer.table([row], columns);
    expect(narrow.terminal.stdout()).toBe("ID\n01234…\n");
    const pipe = setUp("text", { columns: 6 });
    pipe.printer.table([row], columns);
    expect(pipe.terminal.stdout()).toBe("ID\n0123456789\n");
  });

  test("the real terminal is one the printer can write to", () => {
    const real: Output = createTerminal({ env: {} });
    expect(createPrinter({ terminal: real, format: "text", clock: fakeClock() }).format).toBe("text");
  });
});

describe("what agents and plugins say", () => {
  const hostile = "\x1b]0;owned\x07\x1b[2Jhello\rbye";

  test("[SC7] it is stripped on a terminal and left as it is in a pipe", () => {
    const seen = setUp("text", onTerminal);
    seen.printer.untrusted(hostile);
    expect(seen.terminal.stdout()).toBe("hello\nbye");
    const pipe = setUp("text", { stderrIsTty: true });
    pipe.printer.untrusted(hostile);
    expect(pipe.terminal.stdout()).toBe(hostile);
    expect(seen.printer.safe(hostile)).toBe("hello\nbye");
    expect(pipe.printer.safe(hostile)).toBe(hostile);
  });

  test("[SC7] it is stripped in tables, notes, faults and the status line too", () => {
    const { clock, terminal, printer } = setUp("text", { ...onTerminal, color: false, errColor: false });
    printer.table([{}], [{ title: "T", value: () => hostile }]);
    printer.note(hostile);
    printer.fault(new Fault("SCRIPT_FAILED", hostile));
    printer.progress(hostile);
    clock.advance(1000);
    expect(terminal.all.join("")).not.toContain("owned");
    expect(terminal.all.join("")).not.toContain("\x1b[2J");
    expect(terminal.stdout()).toBe("T\nhello bye\n");
    expect(terminal.stderr()).toBe("hello\nbye\nerror: hello\nbye\n\r\x1b[Khello bye (1 s)");
  });

  test("[SC7] a C1 control in JSON is escaped and means the same", () => {
    const { terminal, printer } = setUp("json", onTerminal);
    printer.json({ text: "a\x9b31m\x7f\x1b" });
    expect(terminal.stdout()).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(JSON.parse(terminal.stdout())).toEqual({ text: "a\x9b31m\x7f\x1b" });
  });
});

describe("faults", () => {
  test("[CM1] in text mode a fault is one red word and its message, on stderr", () => {
    const { terminal, printer } = setUp("text", onTerminal);
    printer.fault(new Fault("TIMEOUT", "Late"));
    expect(terminal.all).toEqual(["err:\x1b[31merror:\x1b[0m Late\n"]);
  });

  test("[CM1] in JSON mode a fault is an object on stderr, with code and data", () => {
    const { terminal, printer } = setUp("json", onTerminal);
    printer.fault(new Fault("TIMEOUT", "Late", { timeoutMs: 5 }));
    printer.fault(new TypeError("A bug"));
    expect(terminal.all).toEqual([
      'err:{"error":{"code":"TIMEOUT","message":"Late","data":{"timeoutMs":5}}}\n',
      'err:{"error":{"code":"INTERNAL","message":"A bug","data":{}}}\n',
    ]);
  });
});

describe("the status line", () => {
  test("[CM1] nothing is shown for what takes less than a second, and no timer stays", () => {
    const { clock, terminal, printer } = setUp("text", onTerminal);
    const progress = printer.progress("Waiting");
    clock.advance(999);
    progress.done();
    clock.advance(5000);
    expect(terminal.all).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  test("[CM1] on a terminal one line is rewritten each second and erased at the end", () => {
    const { clock, terminal, printer } = setUp("text", onTerminal);
    const progress = printer.progress("Waiting");
    clock.advance(2000);
    progress.update("Still waiting");
    progress.done();
    progress.done();
    progress.update("Too late");
    clock.advance(5000);
    expect(terminal.all).toEqual([
      "err:\r\x1b[KWaiting (1 s)",
      "err:\r\x1b[KWaiting (2 s)",
      "err:\r\x1b[KStill waiting (2 s)",
      "err:\r\x1b[K",
    ]);
    expect(clock.pending()).toBe(0);
  });

  test("[CM1] it is one plain line, once, in a pipe, in JSON and where lines cannot be rewritten", () => {
    for (const { clock, terminal, printer } of [
      setUp("text"),
      setUp("json", onTerminal),
      setUp("text", { ...onTerminal, errRewrites: false }),
    ]) {
      const progress = printer.progress("Waiting");
      progress.update("Waiting for the plugin");
      clock.advance(5000);
      progress.done();
      expect(terminal.all).toEqual(["err:Waiting for the plugin (1 s)\n"]);
      expect(clock.pending()).toBe(0);
    }
  });

  test("a result takes the place of the line, which comes back with the next second", () => {
    const { clock, terminal, printer } = setUp("text", onTerminal);
    printer.progress("Waiting");
    clock.advance(1000);
    printer.line("result");
    clock.advance(1000);
    expect(terminal.all).toEqual([
      "err:\r\x1b[KWaiting (1 s)",
      "err:\r\x1b[K",
      "out:result\n",
      "err:\r\x1b[KWaiting (2 s)",
    ]);
  });

  test("it never writes into a line that stands open, and a note begins a new one", () => {
    const { clock, terminal, printer } = setUp("text", onTerminal);
    printer.progress("Waiting");
    printer.untrusted("hel");
    clock.advance(1000);
    printer.untrusted("lo");
    printer.note("note");
    expect(terminal.all).toEqual(["out:hel", "out:lo", "err:\nnote\n"]);
    clock.advance(1000);
    expect(terminal.all.at(-1)).toBe("err:\r\x1b[KWaiting (2 s)");
  });

  test("it is clipped, since a line that wraps cannot be erased", () => {
    const { clock, terminal, printer } = setUp("text", { ...onTerminal, columns: 10 });
    printer.progress("Waiting for a long time");
    clock.advance(1000);
    expect(terminal.all).toEqual(["err:\r\x1b[KWaiting …"]);
  });
});

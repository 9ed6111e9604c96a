import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createTerminal } from "../../src/platform/terminal.ts";

const source = JSON.stringify(resolve(import.meta.dir, "../../src/platform/terminal.ts"));
const folder = mkdtempSync(join(tmpdir(), "holdfast-terminal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that has `terminal`; its report goes to a file, since its streams are what is tested. */
async function program(name: string, body: string): Promise<{ words: string[]; report(): Promise<unknown> }> {
  const script = join(folder, `${name}.ts`);
  const reported = join(folder, `${name}.json`);
  await Bun.write(
    script,
    `import { constants, openSync, writeFileSync, writeSync } from "node:fs";
     import { createTerminal, readStdin } from ${source};
     const report = (value) => writeFileSync(${JSON.stringify(reported)}, JSON.stringify(value));
     const terminal = createTerminal({ env: process.env });
     ${body}`,
  );
  return { words: [process.execPath, script], report: () => Bun.file(reported).json() };
}

const shell = (line: string, ...words: string[]) =>
  Bun.spawn(["sh", "-c", line, "sh", ...words], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });

const BYTES = 5 * 1024 * 1024;
const lines = `"x".repeat(99) + "\\n"`;

async function bytesAndHash(stream: ReadableStream<Uint8Array>) {
  const hash = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, hash: hash.digest("hex") };
}

const countedText = (bytes: number) => {
  let text = "";
  for (let line = 0; text.length < bytes; line++) text += `${line} é\n`;
  return text;
};
const hashOf = (text: string) => ({
  bytes: Buffer.byteLength(text),
  hash: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
});

describe("closed pipes", () => {
  test("[CM5] a reader that leaves early is told once, and all further output is dropped in silence", async () => {
    const { words, report } = await program(
      "head",
      `let told = 0;
       terminal.onClosedPipe(() => void told++);
       while (told === 0) terminal.out(${lines});
       for (let extra = 0; extra < 1000; extra++) terminal.out(${lines});
       terminal.err("still here\\n");
       report({ told });
       process.exitCode = 7;`,
    );
    const child = shell('{ "$@"; echo "exit $?" >&2; } | head -1', ...words);
    expect(await child.stdout.text()).toBe(`${"x".repeat(99)}\n`);
    expect(await child.stderr.text()).toBe("still here\nexit 7\n");
    expect(await report()).toEqual({ told: 1 });
  });

  test("[CM5] it is told once, also where stdout and stderr are the same pipe", async () => {
    const { words, report } = await program(
      "both",
      `let told = 0;
       terminal.onClosedPipe(() => void told++);
       while (told === 0) terminal.out(${lines});
       for (let extra = 0; extra < 10; extra++) terminal.err(${lines});
       report({ told });`,
    );
    expect(await shell('"$@" 2>&1 | head -1', ...words).stdout.text()).toBe(`${"x".repeat(99)}\n`);
    expect(await report()).toEqual({ told: 1 });
  });

  test("[CM5] a handler that comes late is told at once", async () => {
    const { words, report } = await program(
      "late",
      `for (let some = 0; some < 100_000; some++) terminal.out(${lines});
       let told = 0;
       terminal.onClosedPipe(() => void told++);
       report({ told });`,
    );
    await shell('"$@" | head -1', ...words).exited;
    expect(await report()).toEqual({ told: 1 });
  });

  test.skipIf(!existsSync("/dev/full"))(
    "a full disk under stdout is an error, and under stderr it is none",
    async () => {
      const { words } = await program("full", `terminal.err("e\\n"); terminal.err("e\\n"); terminal.out("o\\n");`);
      expect(await shell('"$@" 2>/dev/full', ...words).exited).toBe(0);
      const child = shell('"$@" >/dev/full', ...words);
      expect(await child.stderr.text()).toContain("ENOSPC");
      expect(await child.exited).not.toBe(0);
    },
  );
});

describe("slow readers", () => {
  test("every byte of 5 MB arrives through a pipe, though the program ends at once", async () => {
    const { words } = await program(
      "blocking",
      `const text = (${countedText})(${BYTES});
       for (let at = 0; at < text.length; at += 70_001) terminal.out(text.slice(at, at + 70_001));
       process.exit(0);`,
    );
    // `dd` with small blocks reads slower than the program writes.
    const child = shell('"$@" | dd bs=512 2>/dev/null', ...words);
    expect(await bytesAndHash(child.stdout)).toEqual(hashOf(countedText(BYTES)));
  });

  test("every byte of 5 MB arrives through a pipe that is full and says EAGAIN", async () => {
    const fifo = join(folder, "fifo");
    expect(Bun.spawnSync(["mkfifo", fifo]).exitCode).toBe(0);
    const { words } = await program(
      "nonblocking",
      `const fd = openSync(${JSON.stringify(fifo)}, constants.O_RDWR | constants.O_NONBLOCK);
       try { for (;;) writeSync(fd, "."); } catch (error) { writeSync(2, error.code + "\\n"); }
       createTerminal({ stdoutFd: fd, env: {} }).out((${countedText})(${BYTES}));
       process.exit(0);`,
    );
    const writer = Bun.spawn(words, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    const said = await writer.stderr.getReader().read();
    expect(new TextDecoder().decode(said.value)).toBe("EAGAIN\n");
    // Only now, with the pipe full, is there anybody who reads.
    const reader = Bun.spawn(["cat", fifo], { stdin: "ignore", stdout: "pipe" });
    const text = (await reader.stdout.text()).replace(/^\.+/, "");
    expect(hashOf(text)).toEqual(hashOf(countedText(BYTES)));
    expect(await writer.exited).toBe(0);
  });
});

test("stdin is read to its end, over many pieces", async () => {
  const { words, report } = await program("stdin", `report((await readStdin()).length);`);
  const text = "é".repeat(300_000);
  const child = Bun.spawn(words, { stdin: new Blob([text]), stdout: "inherit", stderr: "inherit" });
  await child.exited;
  expect(await report()).toBe(300_000);
});

describe("what kind of terminal it is", () => {
  const facts = `report([terminal.stdinIsTty, terminal.stdoutIsTty, terminal.stderrIsTty, terminal.color, terminal.errColor,
    terminal.errRewrites, terminal.columns]);`;
  const { NO_COLOR: _, FORCE_COLOR: __, COLUMNS: ___, ...rest } = process.env;
  const onTerminal = async (words: string[], env: Record<string, string>) =>
    Bun.spawn(words, { env: { ...rest, TERM: "xterm", ...env }, terminal: { cols: 77, rows: 20, data() {} } }).exited;

  test("[CM1] on a terminal there is colour and its width is known", async () => {
    const { words, report } = await program("tty", facts);
    expect(await onTerminal(words, {})).toBe(0);
    expect(await report()).toEqual([true, true, true, true, true, true, 77]);
  });

  test("[CM1] NO_COLOR is respected on a terminal, also against FORCE_COLOR", async () => {
    const { words, report } = await program("nocolor", facts);
    await onTerminal(words, { NO_COLOR: "1", FORCE_COLOR: "1" });
    expect(await report()).toEqual([true, true, true, false, false, true, 77]);
  });

  test("a dumb terminal has no colour and no line to rewrite", async () => {
    const { words, report } = await program("dumb", facts);
    await onTerminal(words, { TERM: "dumb" });
    expect(await report()).toEqual([true, true, true, false, false, false, 77]);
  });

  test("[CM1] only stdout piped leaves colour to stderr, and the width is that of the terminal", async () => {
    const { words, report } = await program("mixed", facts);
    await onTerminal(["sh", "-c", '"$@" | cat', "sh", ...words], {});
    expect(await report()).toEqual([true, false, true, false, true, true, 77]);
  });

  test("the width follows the terminal", async () => {
    const { words, report } = await program(
      "resize",
      `const before = terminal.columns;
       terminal.out("ready\\n");
       for await (const _ of Bun.stdin.stream()) break;
       report([before, terminal.columns]);
       process.exit(0);`,
    );
    let seen = "";
    const child = Bun.spawn(words, {
      env: { ...rest, TERM: "xterm" },
      terminal: {
        cols: 77,
        rows: 20,
        data(terminal, bytes) {
          const before = seen;
          seen += new TextDecoder().decode(bytes);
          if (before.includes("ready") || !seen.includes("ready")) return;
          terminal.resize(55, 20);
          terminal.write("go\n");
        },
      },
    });
    await child.exited;
    expect(await report()).toEqual([77, 55]);
  });

  test("[CM1] pipes, files and /dev/null are no terminals and have no colour, unless it is forced", () => {
    const file = openSync(join(folder, "file"), "w");
    const nothing = openSync("/dev/null", "r+");
    const facts = (env: Record<string, string>) => {
      const { stdinIsTty, stdoutIsTty, stderrIsTty, color, errRewrites, columns } = createTerminal({
        stdinFd: nothing,
        stdoutFd: file,
        stderrFd: nothing,
        env,
      });
      return [stdinIsTty, stdoutIsTty, stderrIsTty, errRewrites, color, columns];
    };
    expect(facts({ TERM: "xterm" })).toEqual([false, false, false, false, false, 80]);
    expect(facts({ FORCE_COLOR: "1", COLUMNS: "120" })).toEqual([false, false, false, false, true, 120]);
    expect(facts({ FORCE_COLOR: "0" })[4]).toBe(false);
    expect(facts({ FORCE_COLOR: "1", NO_COLOR: "1" })[4]).toBe(false);
    closeSync(file);
    closeSync(nothing);
  });
});

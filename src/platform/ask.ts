// How is a person asked something? One line from the terminal, unless somebody else answers first.

export function readLine(signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = "";
    const done = (line: string | undefined): void => {
      process.stdin.off("data", more);
      process.stdin.off("end", ended);
      signal.removeEventListener("abort", aborted);
      process.stdin.pause();
      resolve(line);
    };
    const more = (bytes: Buffer): void => {
      text += bytes.toString("utf8");
      const end = text.indexOf("\n");
      if (end >= 0) done(text.slice(0, end).trim());
    };
    const ended = () => done(undefined);
    const aborted = () => done(undefined);
    if (signal.aborted) return resolve(undefined);
    process.stdin.on("data", more);
    process.stdin.once("end", ended);
    signal.addEventListener("abort", aborted, { once: true });
    process.stdin.resume();
  });
}

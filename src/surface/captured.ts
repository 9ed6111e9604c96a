// Where does a command write that a program calls? Into a text of bounded length; what is left out is said.
import type { Output } from "./print.ts";

export interface Captured extends Output {
  /** What went to stdout. */
  text(): string;
  /** What went to stderr, line by line. */
  notes(): string[];
}

const MOST_CHARACTERS = 256 * 1024;

export function createCaptured(most = MOST_CHARACTERS): Captured {
  const texts = { out: "", err: "" };
  const left = { out: 0, err: 0 };
  const keep = (where: "out" | "err") => (text: string) => {
    const room = Math.max(0, most - texts[where].length);
    texts[where] += text.slice(0, room);
    left[where] += Math.max(0, text.length - room);
  };
  const whole = (where: "out" | "err"): string =>
    left[where] === 0 ? texts[where] : `${texts[where]}\n… cut here: ${left[where]} more characters`;
  return {
    stdoutIsTty: false,
    stderrIsTty: false,
    color: false,
    errColor: false,
    errRewrites: false,
    columns: 80,
    out: keep("out"),
    err: keep("err"),
    text: () => whole("out"),
    notes: () => whole("err").split("\n").filter(Boolean),
  };
}

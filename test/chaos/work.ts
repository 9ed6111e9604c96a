// Which prompts are sent, and what is the whole answer to each? Every text is unique, so that whoever has it had it from us.
import type { Dice } from "../support/dice.ts";

export interface Work {
  text: string;
  /** The whole answer of a turn that came to its end. */
  isWhole(answer: string): boolean;
  /** What a turn that was cut may have said. */
  isBegun(answer: string): boolean;
  /** About how long it takes. */
  ms: number;
}

export const chunks = (count: number): string => Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join("");

export interface Works {
  stream(count: number, everyMs: number): Work;
  echo(): Work;
  /** Asks for a permission, which the policy gives or denies. */
  ask(): Work;
  tool(): Work;
  shell(): Work;
  any(dice: Dice): Work;
  readonly known: ReadonlyMap<string, Work>;
}

const exact = (answer: string) => ({
  isWhole: (said: string) => said === answer,
  isBegun: (said: string) => answer.startsWith(said),
});

const matching = (whole: RegExp) => ({
  isWhole: (said: string) => whole.test(said),
  isBegun: (said: string) => said === "" || whole.test(said),
});

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function createWorks(prefix: string): Works {
  const known = new Map<string, Work>();
  let count = 0;
  const add = (work: Work): Work => {
    known.set(work.text, work);
    return work;
  };
  const works: Works = {
    known,
    stream(lines, everyMs) {
      // The same numbers once more are told apart by leading zeros.
      let zeros = "";
      const text = () => `stream ${zeros}${lines} ${everyMs}`;
      while (known.has(text())) zeros += "0";
      return add({ text: text(), ms: lines * everyMs, ...exact(chunks(lines)) });
    },
    echo() {
      const text = `${prefix}-${++count}`;
      return add({ text, ms: 5, ...matching(new RegExp(`^${escaped(text)} \\(turn \\d+\\)\\n$`)) });
    },
    ask() {
      // Blanks are all that the agent lets pass.
      const text = `ask${" ".repeat(++count)}`;
      return add({ text, ms: 5, ...matching(/^(allowed|denied) \([a-z_]+\)\n$/) });
    },
    tool() {
      return add({ text: `tool${" ".repeat(++count)}`, ms: 5, ...exact("The tool is done\n") });
    },
    shell() {
      const token = `${prefix}-${++count}`;
      return add({ text: `shell sleep 0.0${(count % 9) + 1}; echo ${token}`, ms: 50, ...exact(`${token}\n`) });
    },
    any(dice) {
      const makers = [
        () => works.stream(dice.whole(20, 400), dice.whole(1, 6)),
        () => works.stream(dice.whole(5, 40), dice.whole(5, 40)),
        works.echo,
        works.echo,
        works.tool,
        works.ask,
        works.shell,
      ];
      return dice.pick(makers)();
    },
  };
  return works;
}

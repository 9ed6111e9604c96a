// How does a test throw dice and throw them the same way again? One number, the seed, gives the whole run.

export interface Dice {
  /** In [0, 1). */
  roll(): number;
  chance(probability: number): boolean;
  between(low: number, high: number): number;
  /** A whole number, both ends included. */
  whole(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  hex(digits: number): string;
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => low + Math.floor(roll() * (high - low + 1));
  return {
    roll,
    chance: (probability) => roll() < probability,
    between: (low, high) => low + roll() * (high - low),
    whole,
    pick<Item>(items: readonly Item[]): Item {
      if (items.length === 0) throw new Error("There is nothing to pick from");
      return items[whole(0, items.length - 1)] as Item;
    },
    hex(digits) {
      let text = "";
      while (text.length < digits)
        text += whole(0, 2 ** 32 - 1)
          .toString(16)
          .padStart(8, "0");
      return text.slice(0, digits);
    },
  };
}

// Who stands in line? Standbys that come again when they are gone; now and then nobody, and clients start a host themselves.
import type { Running } from "../yard.ts";
import type { Scene } from "./scene.ts";

export async function keepLine({ yard, dice, isOver, pause, onOver }: Scene): Promise<void> {
  const line = new Set<Running>();
  const stand = (): void => {
    const made = yard.start("serve", ["serve", "--standby", "--json"], { deadlineMs: Number.POSITIVE_INFINITY });
    line.add(made);
    void made.ended.then(() => line.delete(made));
  };
  onOver(() => {
    for (const each of line) each.tell("SIGTERM");
  });
  let wanted = 2;
  while (!isOver()) {
    if (dice.chance(0.04)) wanted = dice.pick([0, 1, 2, 2, 3, 3]);
    if (line.size < wanted) stand();
    await pause(dice.between(20, 250));
  }
}

// Who watches? Viewers that come and go and go on behind the last number they have, and polls that only look.
import type { Scene } from "./scene.ts";

export async function view({ yard, dice, isOver, pause, sessions }: Scene): Promise<void> {
  while (!isOver() && sessions.length === 0) await pause(50);
  while (!isOver()) {
    const session = dice.pick(sessions);
    let after = 0;
    for (let visits = dice.whole(1, 5); visits > 0 && !isOver(); visits--) {
      const flags = dice.chance(0.3) ? ["--timeout", `${dice.whole(200, 2_500)}ms`] : [];
      const seen = yard.start("attach", ["attach", session, "--after", String(after), "--json", ...flags], {
        about: { session, after, ...(flags.length > 0 ? { timeoutMs: 1 } : {}) },
        heard: ({ seq }) => {
          after = Math.max(after, seq);
        },
      });
      if (flags.length > 0) {
        await seen.ended;
        continue;
      }
      await Promise.race([seen.ended, pause(dice.between(100, 4_000))]);
      if (!seen.isOver()) seen.tell(dice.pick(["SIGINT", "SIGTERM", "SIGKILL"]));
      await seen.ended;
    }
  }
}

export async function poll({ yard, dice, isOver, pause, sessions }: Scene): Promise<void> {
  while (!isOver()) {
    const kind = dice.pick(["status", "sessions", "sessions", "read"]);
    const session = sessions.length > 0 ? dice.pick(sessions) : undefined;
    if (kind === "read" && session !== undefined) {
      const after = dice.pick([0, 0, 5, 50]);
      await yard.run("read", ["read", session, "--after", String(after), "--json"], { about: { session, after } });
    } else if (kind !== "read") await yard.run(kind, [kind, "--format", "json"]);
    await pause(dice.between(20, 400));
  }
}

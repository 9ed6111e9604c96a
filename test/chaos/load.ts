// What if the machine has other things to do? Busy loops beside it, ended with it.
import type { History } from "./history.ts";
import { STARVED } from "./report.ts";

const LOOK_MS = 100;
const LATE_MS = 600;

/** When we ourselves get no time, others do not either: what is promised within seconds is not expected then. */
export function watchLag(history: History): () => void {
  let expected = performance.now() + LOOK_MS;
  const timer = setInterval(() => {
    const late = performance.now() - expected;
    if (late > LATE_MS) history.fault({ name: STARVED, what: STARVED });
    expected = performance.now() + LOOK_MS;
  }, LOOK_MS);
  return () => clearInterval(timer);
}

export function startLoad(count: number): () => void {
  const loops = Array.from({ length: count }, () =>
    Bun.spawn(["sh", "-c", "while :; do :; done"], { stdio: ["ignore", "ignore", "ignore"] }),
  );
  return () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
}

// What if the machine has other things to do? Busy loops beside it, ended with it.

export function startLoad(count: number): () => void {
  const loops = Array.from({ length: count }, () =>
    Bun.spawn(["sh", "-c", "while :; do :; done"], { stdio: ["ignore", "ignore", "ignore"] }),
  );
  return () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
}

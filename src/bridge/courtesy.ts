// Is [::1] served too? A courtesy to plugins that say `localhost`; it never fails a start.
import type { BindOptions, Cancel, Listener, World } from "../platform/world.ts";

const RETRY_MS = 1_000;

export interface Courtesy {
  readonly listening: boolean;
  readonly note: string | undefined;
  release(): void;
  cut(): void;
}

export function offerCourtesy(
  { clock, net, log }: Pick<World, "clock" | "net" | "log">,
  options: Omit<BindOptions, "address">,
): Courtesy {
  let listener: Listener | undefined;
  let note: string | undefined;
  let cancel: Cancel = () => {};
  let over = false;

  const attempt = (): void => {
    const bound = net.bind({ ...options, address: "::1" });
    if (bound.kind === "bound") {
      listener = bound.listener;
      note = undefined;
    } else if (bound.kind === "taken") {
      if (!note) log.warn(`[::1]:${options.port} is taken by another process; trying again every second`);
      note = "taken by another process, tried again every second";
      cancel = clock.after(RETRY_MS, attempt);
    } else {
      note = `not available here (${bound.code})`;
    }
  };
  // After the current turn: the host's own address answers first.
  cancel = clock.after(0, attempt);

  const end = (how: "release" | "cut"): void => {
    cancel();
    if (how === "cut" || !over) listener?.[how]();
    over = true;
  };
  return {
    get listening() {
      return listener !== undefined && !over;
    },
    get note() {
      return note;
    },
    release: () => end("release"),
    cut: () => end("cut"),
  };
}

// Who holds which port, and what does one get who knocks there? One loopback for all processes of a machine.
import type {
  Attach,
  BindOptions,
  Bound,
  Connected,
  ConnectOptions,
  HttpAnswer,
  HttpRequest,
  Net,
  Probed,
} from "../../src/platform/world.ts";
import type { ProcessLife } from "./fake-process.ts";
import { createPair, type End } from "./fake-socket.ts";
import type { VirtualTime } from "./virtual-time.ts";

interface Holding {
  life: ProcessLife;
  options: BindOptions;
  /** The process is gone, and the kernel has not closed the port yet. */
  lingering: boolean;
  ends: Set<End>;
  /** Connections that were taken and not answered. */
  unanswered: Set<() => void>;
}

export interface LoopbackOptions {
  time: VirtualTime;
  /** One way, for anything. */
  latencyMs(): number;
  /** On top, until a connection is taken. */
  connectMs(): number;
}

export interface Loopback {
  netOf(life: ProcessLife, bindFails: () => string | undefined, lingerMs: () => number): Net;
  /** The process that holds the port on 127.0.0.1, dead or alive. */
  holder(port: number): ProcessLife | undefined;
}

const FIRST_FREE_PORT = 50_000;

const requestOf = (port: number, path: string, upgrade: boolean, headers: Record<string, string>): HttpRequest => {
  const url = new URL(path, `http://127.0.0.1:${port}`);
  const sent = new Headers({ host: url.host, ...headers });
  return {
    method: "GET",
    path: url.pathname,
    query: url.searchParams,
    header: (name) => sent.get(name),
    upgrade,
  };
};

export function createLoopback({ time, latencyMs, connectMs }: LoopbackOptions): Loopback {
  const ports = new Map<string, Holding>();
  let nextFreePort = FIRST_FREE_PORT;

  const bind = (life: ProcessLife, options: BindOptions, lingerMs: () => number): Bound => {
    const port = options.port === 0 ? nextFreePort++ : options.port;
    const name = `${options.address}:${port}`;
    if (ports.has(name)) return { kind: "taken" };
    const holding: Holding = { life, options, lingering: false, ends: new Set(), unanswered: new Set() };
    ports.set(name, holding);
    const free = (): void => {
      if (ports.get(name) === holding) ports.delete(name);
      for (const drop of [...holding.unanswered]) drop();
    };
    life.onDeath(() => {
      holding.lingering = true;
      const ms = lingerMs();
      for (const drop of [...holding.unanswered]) drop();
      if (ms > 0) time.plan(ms, free);
      else free();
    });
    return {
      kind: "bound",
      listener: {
        port,
        release: free,
        cut() {
          free();
          for (const end of [...holding.ends]) end.socket.cut();
        },
      },
    };
  };

  /** Asks whoever listens; a process that is stopped is asked all the same, and answers when it goes on. */
  const knock = (
    life: ProcessLife,
    request: HttpRequest & { port: number },
    answered: (answer: HttpAnswer | "refused" | "dropped", holding?: Holding) => void,
  ): void => {
    const back = (answer: "refused" | "dropped"): void => {
      time.plan(latencyMs(), () => life.enter(() => answered(answer)));
    };
    time.plan(connectMs() + latencyMs(), () => {
      const holding = ports.get(`127.0.0.1:${request.port}`);
      if (!holding) return back("refused");
      if (holding.lingering) return back("dropped");
      const drop = (): void => {
        holding.unanswered.delete(drop);
        back("dropped");
      };
      holding.unanswered.add(drop);
      holding.life.enter(() => {
        if (!holding.unanswered.delete(drop)) return;
        answered(holding.options.answer(request), holding);
      });
    });
  };

  const connect = (life: ProcessLife, options: ConnectOptions, attach: Attach): Promise<Connected> =>
    new Promise((resolve) => {
      let over = false;
      const end = (connected: Connected): void => {
        if (over) return;
        over = true;
        cancel();
        resolve(connected);
      };
      const cancel = life.clock.after(options.timeoutMs, () => end({ kind: "silent" }));
      const request = { ...requestOf(options.port, options.path, true, options.headers ?? {}), port: options.port };
      knock(life, request, (answer, holding) => {
        if (answer === "refused") return end({ kind: "refused" });
        if (answer === "dropped" || !holding) return end({ kind: "broken" });
        if (answer.kind !== "upgrade") {
          time.plan(latencyMs(), () => life.enter(() => end({ kind: "denied", status: answer.status })));
          return;
        }
        const pair = createPair({ time, latencyMs }, life, holding.life);
        holding.ends.add(pair.server);
        // Sent first: whatever the other side says at once comes behind it.
        pair.client.arrive(() => {
          if (over) return pair.client.socket.cut();
          if (!pair.client.isOpen()) return end({ kind: "broken" });
          pair.client.hear(attach(pair.client.socket));
          end({ kind: "open", socket: pair.client.socket });
        });
        pair.server.hear(answer.attach(pair.server.socket));
        if (life.state === "dead") pair.client.crash();
      });
    });

  const probe = (life: ProcessLife, port: number, timeoutMs: number): Promise<Probed> =>
    new Promise((resolve) => {
      const cancel = life.clock.after(timeoutMs, () => resolve({ kind: "silent" }));
      const end = (probed: Probed): void => {
        cancel();
        resolve(probed);
      };
      knock(life, { ...requestOf(port, "/health", false, {}), port }, (answer) => {
        if (answer === "refused" || answer === "dropped") return end({ kind: "refused" });
        if (answer.kind === "upgrade") throw new Error("A probe is no upgrade");
        const body = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
        time.plan(latencyMs(), () => life.enter(() => end({ kind: "answer", status: answer.status, body })));
      });
    });

  const holder = (port: number): ProcessLife | undefined => ports.get(`127.0.0.1:${port}`)?.life;

  return {
    holder,
    netOf: (life, bindFails, lingerMs) => ({
      bind(options) {
        if (life.state !== "running") throw new Error(`Process ${life.pid} is ${life.state} and binds`);
        const code = bindFails();
        if (code !== undefined) return { kind: "failed", code, error: new Error(`bind: ${code}`) };
        return bind(life, options, lingerMs);
      },
      connect: (options, attach) => connect(life, options, attach),
      probe: (port, timeoutMs) => probe(life, port, timeoutMs),
      owner(port) {
        const life = holder(port);
        return life && { pid: life.pid, command: "holdfast" };
      },
    }),
  };
}

// Which exit codes may a command end with? Those that the manual promises it, and only where the reason for it happened.
import type { Command, FaultDone, Violation } from "../history.ts";

export interface Around {
  /** Faults that overlap with the command's life, or were a little before it. */
  faults: readonly FaultDone[];
  /** Another client cancelled or closed its session meanwhile. */
  isCancelled: boolean;
  /** Its session was there before it was started. */
  isKnown: boolean;
}

interface Rule {
  kinds: readonly string[];
  codes: readonly number[];
  when?(around: Around, command: Command): boolean;
}

/** What we did to whom. */
const did =
  (...what: string[]) =>
  ({ faults }: Around): boolean =>
    faults.some((fault) => what.includes(fault.what));
const wasTold = (_: Around, { told }: Command): boolean => told.length > 0;
const hasTimeout = (_: Around, { about }: Command): boolean => about.timeoutMs !== undefined;

const TURNS = ["prompt", "detach"];
/** May be asked twice without harm: never 5 [CM10]. */
const LOOKS = ["read", "sessions", "status", "cancel", "keep", "close"];
const NAMED = ["read", "attach", "cancel", "keep", "close"];
const STAYING = ["serve", "plugin", "acp", "mcp", "acp-open"];
const ANY = [1, 3, 4, 5, 6];

export const RULES: readonly Rule[] = [
  { kinds: [...TURNS, ...LOOKS, ...STAYING, "exec", "browse", "stop"], codes: [0] },
  // No host runs: what it says then, by its help.
  { kinds: ["status"], codes: [4] },
  { kinds: ["prompt", "attach", "exec", "browse", ...TURNS, ...LOOKS, "stop"], codes: [130], when: wasTold },
  { kinds: ["acp", "mcp"], codes: [130], when: wasTold },
  // Told before it stood anywhere.
  {
    kinds: ["serve", "plugin"],
    codes: [130],
    when: (_, { told, events }) => told.length > (events.length === 0 ? 0 : 1),
  },
  { kinds: ["attach"], codes: [6], when: hasTimeout },
  { kinds: ["prompt"], codes: [6], when: hasTimeout },
  {
    kinds: ["prompt", "detach"],
    codes: [1],
    when: ({ isCancelled }, { about }) => isCancelled || about.isCancelled === true,
  },
  { kinds: TURNS, codes: [1, 5], when: did("kill agent") },
  { kinds: NAMED, codes: [3], when: ({ isKnown }) => !isKnown },
  { kinds: ["sweep"], codes: [8] },
  { kinds: ["acp-open"], codes: [1, 5], when: did("kill agent") },
  // A viewer in line may be the host, and hosts can be asked to stop.
  { kinds: ["attach"], codes: [1], when: did("stop host") },
  // It does not listen, and that is said after 5 s.
  { kinds: ["cancel", "prompt"], codes: [6], when: did("freeze agent", "freeze keeper", "kill agent") },
  // The machine had no time: an agent seems deaf, a browser never answers.
  { kinds: ["cancel", "prompt"], codes: [6], when: did("starve") },
  { kinds: ["browse"], codes: [8], when: did("starve") },
  // Somebody else holds the port: what `serve` without --standby is for.
  { kinds: ["serve"], codes: [4], when: (_, { words }) => !words.includes("--standby") },
  // Outcome unknown, and never sent again by itself.
  {
    kinds: ["exec"],
    codes: [5],
    when: ({ faults }) => faults.some(({ what }) => /(kill|leave|freeze|stop) (host|plugin)/.test(what)),
  },
  { kinds: ["exec"], codes: [3, 6], when: did("kill plugin", "freeze plugin") },
  {
    kinds: ["browse"],
    codes: [8],
    when: ({ faults }) => faults.filter(({ what }) => / browser$/.test(what)).length >= 3,
  },
  { kinds: ["browse"], codes: [8], when: did("fill disk") },
  // A stopped process holds the port, and that is said.
  { kinds: [...TURNS, ...LOOKS, "exec", "attach", "stop", "browse"], codes: [4], when: did("freeze host") },
  // Without room, descriptors or the right time a command may fail, in a documented way.
  {
    kinds: [...TURNS, ...LOOKS, ...STAYING, "exec", "attach", "browse", "stop"],
    codes: ANY,
    when: ({ faults }) => faults.some(({ what }) => /^(fill disk|cripple|turn clock)/.test(what)),
  },
];

/** Of those that a signal ended before they could listen to it. */
const SIGNALS: Readonly<Record<string, readonly string[]>> = {
  SIGKILL: ["SIGKILL"],
  SIGTERM: ["SIGTERM"],
  SIGINT: ["SIGINT"],
};

export function judgeExit(command: Command, around: Around): Violation | undefined {
  const { kind, words, code, signal, told, err, isHung, at, endedAt = at } = command;
  const who = `"${words.join(" ").trimEnd()}" (pid ${command.pid})`;
  const last = err.trim().split("\n").at(-1) ?? "";
  if (isHung) return { kind: "hung", text: `${who} did not end within ${endedAt - at} ms`, at: endedAt };
  if (signal !== null) {
    const isOurs = told.some((each) => SIGNALS[signal]?.includes(each.signal));
    if (isOurs) return undefined;
    return {
      kind: "undocumented exit",
      text: `${who} was ended by ${signal}, which nobody sent: ${last}`,
      at: endedAt,
    };
  }
  const isAllowed = RULES.some(
    (rule) => rule.kinds.includes(kind) && rule.codes.includes(code ?? -1) && (rule.when?.(around, command) ?? true),
  );
  if (isAllowed) return undefined;
  const faults = around.faults.map(({ what }) => what).slice(-6);
  return {
    kind: "undocumented exit",
    text: `${who} ended with ${code}: ${last || "it said nothing"} (around it: ${faults.join(", ") || "no fault"})`,
    at: endedAt,
    ...(command.about.session === undefined ? {} : { session: command.about.session }),
  };
}

/** Faults so long before a command still explain its end: an agent is started again after some seconds. */
const BEFORE_MS = 8_000;

export function aroundOf(command: Command, commands: readonly Command[], faults: readonly FaultDone[]): Around {
  const { at, endedAt = at, about, id } = command;
  const others = commands.filter((other) => other.id !== id && other.about.session === about.session);
  const overlaps = (other: Command): boolean => other.at <= endedAt && (other.endedAt ?? other.at) >= at;
  return {
    faults: faults.filter((fault) => fault.at <= endedAt && fault.until >= at - BEFORE_MS),
    isCancelled:
      about.session !== undefined &&
      others.some((other) => (other.kind === "cancel" || other.kind === "close") && overlaps(other)),
    isKnown: others.some(
      (other) => TURNS.includes(other.kind) && other.code === 0 && (other.endedAt ?? Number.POSITIVE_INFINITY) <= at,
    ),
  };
}

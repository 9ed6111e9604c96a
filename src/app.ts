// What joins a command to the world? Everything opened here is closed again, however the command ends.
import { resolve } from "node:path";
import { openBridge } from "./bridge/bridge.ts";
import type { BridgeConnection } from "./bridge/connection.ts";
import { createState } from "./bridge/state.ts";
import type { Called, CallOptions, Context, HoldfastCommand } from "./commands/context.ts";
import { ownSettings } from "./commands/own-settings.ts";
import { COMMANDS } from "./commands/table.ts";
import { readLine } from "./platform/ask.ts";
import { runInTerminal, startChild } from "./platform/child.ts";
import { systemClock } from "./platform/clock.ts";
import { readText } from "./platform/files.ts";
import { createNoteLog } from "./platform/log.ts";
import { isRunning, kill } from "./platform/processes.ts";
import { selfCommand, startDetached } from "./platform/self.ts";
import { createStreamOut } from "./platform/stream-out.ts";
import { configFile, createSystemWorld, type Env, hasFifos, stateDirectory } from "./platform/system.ts";
import { createTerminal, readStdin } from "./platform/terminal.ts";
import {
  isDirectory,
  makeTemporaryDirectory,
  readUserFile,
  removeDirectory,
  writeUserFile,
} from "./platform/user-files.ts";
import type { Config } from "./protocol/config.ts";
import { Fault, messageOf } from "./protocol/fault.ts";
import { orPlain, whyOf } from "./protocol/file-fault.ts";
import { createCaptured } from "./surface/captured.ts";
import type { Format } from "./surface/command.ts";
import { exitCodeOf } from "./surface/exit-codes.ts";
import { argsFrom, parseArgs, wantsHelp } from "./surface/flags.ts";
import { helpFor } from "./surface/help.ts";
import { createPrinter, type Printer } from "./surface/print.ts";
import { nearest } from "./surface/suggest.ts";

const CLOSED_PIPE = "closed pipe";
const NOBODY_READS = "warning: nobody reads this output; what comes now is dropped until somebody does";

export async function runCommand(words: readonly string[], env: Env, interrupt: AbortController): Promise<number> {
  const closed = () => interrupt.abort(CLOSED_PIPE);
  // A guess, for faults in the words themselves; once they are read, `args.format` tells.
  const saysJson = (word: string, index: number) =>
    word === "--json" || word === "--format=json" || (word === "--format" && words[index + 1] === "json");
  let format: Format = words.some(saysJson) ? "json" : "text";
  const printerOn = (out?: (text: string) => void): Printer => {
    const terminal = createTerminal({ env, ...(out ? { out } : {}) });
    terminal.onClosedPipe(closed);
    return createPrinter({ terminal, format, clock: systemClock });
  };
  let printer = printerOn();
  try {
    const command = await find(words[0] ?? "");
    const rest = words.slice(1);
    if (wantsHelp(rest)) {
      const help = helpFor(command, COMMANDS[command.name]?.summary ?? "").trimEnd();
      printer.json({ help });
      printer.line(help);
      return 0;
    }
    const args = parseArgs(command, rest, env);
    format = args.format;
    const stands = command.stands?.(args);
    const stream = stands ? createStreamOut(closed, () => printer.note(NOBODY_READS, "red")) : undefined;
    printer = printerOn(stream?.out);
    const room = stream?.room ?? (() => Promise.resolve());
    const world = createSystemWorld(createNoteLog((text) => printer.note(`warning: ${text}`, "yellow")));
    return await runWith(command, args, { world, env, printer, room, signal: interrupt.signal });
  } catch (thrown) {
    return failed(thrown, printer, interrupt.signal);
  }
}

async function find(name: string): Promise<HoldfastCommand> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) return await entry.load();
  const names = Object.keys(COMMANDS).filter((each) => !COMMANDS[each]?.hidden);
  const close = nearest(name, names);
  const what = name.startsWith("-") ? "The first word must be a command, not the flag" : "There is no command";
  const hint = close ? `did you mean "${close}"?` : "holdfast help lists them";
  throw new Fault("USAGE", `${what} "${name}"; ${hint}`, { argument: "COMMAND", value: name });
}

function failed(thrown: unknown, printer: Printer, signal: AbortSignal): number {
  if (signal.aborted) return signal.reason === CLOSED_PIPE ? 0 : 130;
  const told = orPlain(thrown);
  printer.fault(told);
  return exitCodeOf(told);
}

const refuseStdin = () => Promise.reject(new Fault("USAGE", "There is no stdin to read here; give the text itself"));

/** Inside another command: with a printer of its own, and whatever it opens is closed again. */
async function callCommand(
  env: Env,
  name: string,
  values: Readonly<Record<string, unknown>>,
  how: CallOptions,
): Promise<Called> {
  const { port, format, signal, showPicture } = how;
  const captured = createCaptured();
  const printer = createPrinter({ terminal: captured, format, clock: systemClock });
  const world = createSystemWorld(createNoteLog((text) => printer.note(`warning: ${text}`)));
  const done = (code: number): Called => ({ code, text: captured.text(), notes: captured.notes() });
  try {
    const command = await find(name);
    const args = argsFrom(command, { ...values, format, port }, env);
    const basics = { world, env, printer, room: () => Promise.resolve(), signal };
    return done(await runWith(command, args, basics, { isInteractive: false, readStdin: refuseStdin, showPicture }));
  } catch (raw) {
    signal.throwIfAborted();
    const thrown = orPlain(raw);
    const { code, data } = thrown instanceof Fault ? thrown : { code: "INTERNAL", data: {} };
    return { ...done(exitCodeOf(thrown)), fault: { code, message: messageOf(thrown), data } };
  }
}

type Basics = Pick<Context, "world" | "env" | "printer" | "room" | "signal">;
type Arguments = Parameters<HoldfastCommand["run"]>[0];

/** Loaded only by those who may host: a command ends sooner than this is loaded. */
async function hostParts(world: Context["world"], { state, config }: Context) {
  const [{ createHosting }, { agentService }] = await Promise.all([
    import("./bridge/hosting.ts"),
    import("./agents.ts"),
  ]);
  return { hosting: createHosting, service: agentService(world, state, await config()), rehearses: true };
}

async function runWith(
  command: HoldfastCommand,
  args: Arguments,
  basics: Basics,
  instead: Partial<Context> = {},
): Promise<number> {
  const { world, env, printer, signal } = basics;
  const state = createState(world, stateDirectory(env));
  const opened: BridgeConnection[] = [];
  const over = new AbortController();
  const directories: string[] = [];
  const startBackgroundHost = async (port: number) => {
    // A wrong config or environment is said here, where somebody reads it, and not in a log file; but whoever has just
    // lost a host is in a hurry.
    if (opened.length === 0) ownSettings({ env, world, config: await context.config() });
    if (state.settings(port)?.auth === "none") {
      printer.note(`Port ${port} goes on with --auth none, as its last host left it; holdfast stop ends that`, "red");
    }
    const chosen = args.config === undefined ? [] : ["--config", resolve(args.config)];
    return startDetached(["background-host", "--port", String(port), ...chosen]);
  };
  let config: Config | undefined;
  const context: Context = {
    ...basics,
    state,
    startSelf: (words, options) => startChild([...selfCommand(), ...words], options),
    runInTerminal,
    isRunning,
    hasKeepers: hasFifos,
    killProcess: (pid) => void kill(pid, "SIGKILL"),
    temporaryDirectory() {
      const made = makeTemporaryDirectory("holdfast-");
      directories.push(made);
      return made;
    },
    startBackgroundHost,
    async config() {
      if (config) return config;
      const { path, text } = context.configText();
      // Where there is no file nothing needs checking, and loading what checks takes longer than a short command.
      if (text === undefined) config = { agents: {} };
      else config = (await import("./commands/config-file.ts")).readConfig(path, text);
      return config;
    },
    configText() {
      const path = args.config === undefined ? configFile(env) : resolve(args.config);
      const fail = (why: string): never => {
        throw new Fault("USAGE", `The config file "${path}" ${why}`, { path });
      };
      try {
        const text = readText(path);
        return text === undefined && args.config !== undefined ? fail("of --config is not there") : { path, text };
      } catch (thrown) {
        if (thrown instanceof Fault) throw thrown;
        return fail(`cannot be read: ${whyOf(thrown)}`);
      }
    },
    absolute: (path) => resolve(path),
    isDirectory,
    readStdin: () => readStdin(signal),
    readLine,
    get isInteractive() {
      const { stdinIsTty, stderrIsTty } = createTerminal({ env });
      return stdinIsTty && stderrIsTty;
    },
    plainEnv: Object.fromEntries(Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined)),
    readFile: readUserFile,
    writeFile: writeUserFile,
    call: (name, values, how) => callCommand(env, name, { ...values, config: args.config }, how),
    ...instead,
    async open({ log = world.log, ...options }) {
      const stopAsked = () =>
        interrupted.reject(new Fault("REFUSED", "This was the host, and a client asked it to stop"));
      const notice = (message: string) => printer.note(message, "yellow");
      const listener = { notice, stopAsked, ...options.listener };
      const asHost = options.mode === "command" ? {} : await hostParts({ ...world, log }, context);
      const until = AbortSignal.any([signal, over.signal]);
      const all = { state, signal: until, ...asHost, ...options, listener };
      const connection = await openBridge({ ...world, log }, all);
      opened.push(connection);
      // The command gave up waiting for it.
      if (over.signal.aborted) await connection.disconnect();
      return connection;
    },
  };
  const interrupted = Promise.withResolvers<never>();
  interrupted.promise.catch(() => undefined);
  const stop = () => interrupted.reject(new Fault("REFUSED", "Interrupted"));
  if (!command.endsItself) signal.addEventListener("abort", stop, { once: true });
  try {
    const code = await Promise.race([command.run(args, context), interrupted.promise]);
    return code;
  } finally {
    signal.removeEventListener("abort", stop);
    over.abort();
    await Promise.all(opened.map((connection) => connection.disconnect()));
    for (const directory of directories) removeDirectory(directory);
  }
}

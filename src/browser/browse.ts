// How is one web task put together, and how does it end? Whatever happens, its last event tells, and nothing is left.
import type { Allows } from "../core/allowed-domains.ts";
import type { Endpoint } from "../core/endpoints.ts";
import { createRedact, maskUrl, type Redact, reveal, revealInUrl, type Secret, secretsOfUrl } from "../core/redact.ts";
import { LIMIT_REASONS, type Limits } from "../core/web-task.ts";
import type { Browsers } from "../platform/browser-world.ts";
import type { World } from "../platform/world.ts";
import { Fault, type FaultCode, messageOf } from "../protocol/fault.ts";
import type { StepsFile } from "../protocol/web-task.ts";
import type { Brain } from "./brain.ts";
import { createOutFolder } from "./out-folder.ts";
import { PlaywrightBrowser } from "./playwright-browser.ts";
import { createTell, type Tell } from "./report.ts";
import { masksOf } from "./secrets.ts";
import { type TaskResult, WebAgent } from "./web-agent.ts";

export interface BrowseOptions {
  task: string;
  startUrl: string | undefined;
  endpoints: readonly Endpoint[];
  standby: boolean | undefined;
  carry: boolean;
  limits: Limits;
  timeoutMs: number;
  allows: Allows;
  allowedDomains: readonly string[];
  secrets: ReadonlyMap<string, string>;
  /** More that no sink may show, such as a model's key. */
  hidden: readonly Secret[];
  out: string | undefined;
  /** Where the steps of a brain are written when there is no `out`. */
  stepsFile(): string;
  brain: Brain;
}

export interface BrowseDeps {
  world: World;
  browsers: Browsers;
  writeBytes(path: string, bytes: Uint8Array): void;
  uploadable(path: string): string | undefined;
  tell: Tell;
  /** What the task took a picture of, where somebody can see it at once. */
  showPicture?(png: Uint8Array): void;
  /** The caller's own end: Ctrl-C. */
  signal: AbortSignal;
}

const codeOf = ({ reason }: TaskResult["end"]): FaultCode => {
  if (reason === "endpoints-exhausted") return "ENDPOINTS_EXHAUSTED";
  return LIMIT_REASONS.has(reason) ? "LIMIT_REACHED" : "TASK_FAILED";
};

/** Told already. */
class TaskFailure extends Fault {}

const reasonOf = (thrown: unknown): string =>
  thrown instanceof Fault ? thrown.code.toLowerCase().replaceAll("_", "-") : "internal";

const isPageUrl = (url: string): boolean => /^https?:/.test(url);

/** The same fault, with nothing in it that must not be seen. */
function cleaned(thrown: unknown, redact: Redact): unknown {
  if (thrown instanceof Fault) return new Fault(thrown.code, redact(thrown.message), redact(thrown.data));
  return thrown instanceof Error ? new Error(redact(thrown.message)) : thrown;
}

/** What pages echo, and what libraries say, may hold a secret too: a brain gets none of it. */
const blindfolded = (brain: Brain, redact: Redact): Brain => ({
  ...brain,
  next: (situation, signal) => brain.next(redact(situation), signal),
  judge: (done, signal) => brain.judge(redact(done), signal),
});

export async function browse(options: BrowseOptions, deps: BrowseDeps): Promise<TaskResult> {
  const { endpoints, secrets, limits, timeoutMs } = options;
  const { world, browsers } = deps;
  const { clock, files } = world;
  const urls = endpoints.flatMap((endpoint) => (endpoint.kind === "cdp" ? [endpoint.url] : []));
  const redact = createRedact([...masksOf(secrets), ...options.hidden, ...urls.flatMap(secretsOfUrl)]);
  const out =
    options.out === undefined
      ? undefined
      : createOutFolder({ files, clock, redact, directory: options.out, writeBytes: deps.writeBytes });
  const tell = createTell(redact, [...(out ? [out.event] : []), deps.tell]);
  const brain = blindfolded(options.brain, redact);
  const since = clock.elapsed();

  const late = new AbortController();
  const fault = new Fault("TIMEOUT", `The task was not done within ${timeoutMs} ms; raise it with --timeout`);
  const cancel = clock.after(timeoutMs, () => late.abort(fault));
  const signal = AbortSignal.any([deps.signal, late.signal]);
  const scratch = browsers.scratch();
  const browser = new PlaywrightBrowser({
    scratch: scratch.path,
    clock,
    browsers,
    endpoints,
    standby: options.standby,
    allows: options.allows,
    allowedDomains: options.allowedDomains,
    reveal: (text) => reveal(text, secrets),
    revealInUrl: (url) => revealInUrl(url, secrets),
    uploadable: deps.uploadable,
    cycled: (failure) => tell("cdp:endpoint_cycle", failure),
    signal,
  });

  const writeSteps = ({ steps, startUrl }: TaskResult): string | undefined => {
    if (!brain.looks || steps.length === 0) return undefined;
    const file: StepsFile = { task: options.task, ...(isPageUrl(startUrl) ? { startUrl } : {}), steps: [...steps] };
    if (out) return out.steps(file);
    const path = options.stepsFile();
    files.replace(path, `${JSON.stringify(redact(file), null, 2)}\n`);
    return path;
  };
  const durationMs = () => Math.round(clock.elapsed() - since);

  const reaping = browsers.reap();
  tell("task:started", {
    task: options.task,
    brain: brain.kind,
    endpoints: endpoints.map((endpoint) => (endpoint.kind === "cdp" ? maskUrl(endpoint.url) : "local")),
    limits: { ...limits },
  });
  const briefing = { task: options.task, startUrl: options.startUrl, secrets: [...secrets.keys()] };
  const { carry } = options;
  const picture = (iteration: number, name: string, png: Uint8Array): void => {
    out?.keep(iteration, name, png);
    deps.showPicture?.(png);
  };
  const agent = new WebAgent({ clock, browser, brain, briefing, limits, carry, tell, out, picture, signal });
  const completed = (data: Record<string, unknown>): void =>
    tell("task:completed", { ...data, stats: { ...agent.stats, durationMs: durationMs() } });
  try {
    const result = await agent.run();
    const { end, data } = result;
    // Before the result is told: who reads it may look for what is left.
    await browser.end();
    const { reason, message, answer, plan } = end;
    completed({ success: reason === "done", reason, message, answer, data, plan, stepsFile: writeSteps(result) });
    if (reason !== "done") throw new TaskFailure(codeOf(end), message, { reason });
    return redact(result);
  } catch (thrown) {
    await browser.end();
    if (thrown instanceof TaskFailure) throw cleaned(thrown, redact);
    const message = deps.signal.aborted ? "Interrupted" : messageOf(thrown);
    completed({ success: false, reason: deps.signal.aborted ? "interrupted" : reasonOf(thrown), message });
    throw cleaned(thrown, redact);
  } finally {
    cancel();
    await brain.end();
    await reaping.catch(() => undefined);
    scratch.end();
    out?.end();
  }
}

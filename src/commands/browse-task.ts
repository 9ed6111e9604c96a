// How does holdfast browse run one task? Its brain, its endpoints and its secrets are put together here.
import { createAcpBrain } from "../browser/acp-brain.ts";
import type { Brain } from "../browser/brain.ts";
import { browse as browseTask } from "../browser/browse.ts";
import { createChat } from "../browser/chat.ts";
import { createHttpBrain } from "../browser/http-brain.ts";
import { keepNewest } from "../browser/kept-steps.ts";
import { mustKnow, readSecrets } from "../browser/secrets.ts";
import { createStepsBrain } from "../browser/steps-brain.ts";
import { readStepsFile } from "../browser/steps-file.ts";
import { createAllows, isDomain } from "../core/allowed-domains.ts";
import { localEndpoints, parseEndpoints } from "../core/endpoints.ts";
import { DEFAULT_LIMITS } from "../core/web-task.ts";
import { fileBelow, writePrivateBytes } from "../platform/browse-files.ts";
import { createBrowsers } from "../platform/browser-process.ts";
import { postHttp } from "../platform/http-post.ts";
import { Fault } from "../protocol/fault.ts";
import { type StepsFile, stepsFileSchema } from "../protocol/web-task.ts";
import { createAgentTalk } from "./agent-talk.ts";
import type { BrowseArgs } from "./browse.ts";
import { createBrowseLines } from "./browse-lines.ts";
import type { Context } from "./context.ts";
import { openAsCommand } from "./plugin-session.ts";

export async function runBrowse(given: BrowseArgs, context: Context): Promise<number> {
  if (given.schema) return show(context, stepsFileSchema());
  if (given.check !== undefined) return await check(context, given.check);
  await runTask(given, context);
  return 0;
}

function show({ printer }: Context, value: unknown): number {
  printer.json(value);
  printer.line(JSON.stringify(value, null, 2));
  return 0;
}

async function readText(context: Context, path: string, what: string): Promise<string> {
  try {
    return await context.readFile(context.absolute(path));
  } catch (thrown) {
    throw new Fault("USAGE", `The ${what} "${path}" cannot be read`, { path }, { cause: thrown });
  }
}

const readSteps = async (context: Context, path: string): Promise<StepsFile> =>
  readStepsFile(path, await readText(context, path, "steps file"));

async function check(context: Context, path: string): Promise<number> {
  const { steps } = await readSteps(context, path);
  context.printer.json({ file: path, steps: steps.length });
  context.printer.line(`${path} is right: ${steps.length} steps`);
  return 0;
}

async function runTask(given: BrowseArgs, context: Context): Promise<void> {
  const { world, env, printer, signal, state } = context;
  const stepsPath = given.steps ?? (given.task?.endsWith(".json") ? given.task : undefined);
  if ([stepsPath, given.agent, given.model].filter((each) => each !== undefined).length !== 1) {
    const brains = "a steps file (--steps FILE), an agent (--agent NAME) or a model (--model NAME)";
    throw new Fault("USAGE", `A task needs one brain: give ${brains}`);
  }
  if (given.carry && given.fresh) throw new Fault("USAGE", "Flags --carry and --fresh exclude each other; give one");
  const domain = given.allowDomain.find((each) => !isDomain(each));
  if (domain !== undefined)
    throw new Fault("USAGE", `Flag --allow-domain got "${domain}"; give a name such as example.com`);
  if (given.startUrl !== undefined && !URL.canParse(given.startUrl))
    throw new Fault(
      "USAGE",
      `Flag --start-url got "${given.startUrl}"; give a whole address such as https://example.com`,
    );

  const steps = stepsPath === undefined ? undefined : await readSteps(context, stepsPath);
  const task = steps ? (steps.task ?? stepsPath) : given.task;
  if (task === undefined) throw new Fault("USAGE", "Missing TASK; say in words what is to be done");
  const file =
    given.secrets === undefined
      ? undefined
      : { path: given.secrets, text: await readText(context, given.secrets, "file of secrets") };
  const secrets = readSecrets({ names: given.secret, file, env });
  if (steps) mustKnow(steps, secrets);

  const fromEnv = env["HOLDFAST_CDP_ENDPOINTS"]
    ?.split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  const urls =
    given.cdp.length > 0 ? given.cdp : fromEnv?.length ? fromEnv : ((await context.config()).cdpEndpoints ?? []);
  const endpoints = urls.length > 0 ? parseEndpoints(urls) : localEndpoints();
  const key = env["HOLDFAST_API_KEY"] ?? env["OPENAI_API_KEY"];
  const { brain, end } = await openBrain(given, context, steps, key);
  const lines = createBrowseLines(printer);
  const enough = (steps?.steps.length ?? 0) * endpoints.length + DEFAULT_LIMITS.maxIterations;
  const maxIterations = given.maxIterations ?? (steps ? enough : DEFAULT_LIMITS.maxIterations);
  try {
    const { end: how, data } = await browseTask(
      {
        task,
        startUrl: given.startUrl ?? steps?.startUrl,
        endpoints,
        standby: given.standby,
        carry: given.carry || (!steps && !given.fresh),
        limits: { ...DEFAULT_LIMITS, maxIterations },
        timeoutMs: given.timeout,
        allows: createAllows(given.allowDomain),
        allowedDomains: given.allowDomain,
        secrets,
        hidden: key ? [{ mask: "***", value: key }] : [],
        out: given.out === undefined ? undefined : context.absolute(given.out),
        stepsFile: () => keepNewest(world, `${state.directory}/browse`),
        brain,
      },
      {
        world,
        browsers: createBrowsers(`${state.directory}/browsers`, env),
        writeBytes: writePrivateBytes,
        // A page must not be able to talk a brain into giving away what it likes.
        uploadable: (path) => (steps ? context.absolute(path) : fileBelow(context.absolute("."), path)),
        tell: lines.tell,
        showPicture: (png) => context.showPicture?.(png, "image/png"),
        signal,
      },
    );
    lines.end();
    if (!steps) printer.line(printer.safe(how.answer ?? ""));
    for (const [name, value] of Object.entries(data)) printer.line(printer.safe(`${name}: ${value}`));
  } finally {
    lines.end();
    await end();
  }
}

async function openBrain(
  given: BrowseArgs,
  context: Context,
  steps: StepsFile | undefined,
  key: string | undefined,
): Promise<{ brain: Brain; end(): Promise<void> }> {
  const { world, env } = context;
  const { clock, random, secrets } = world;
  if (steps) return { brain: createStepsBrain(steps), end: async () => {} };
  if (given.model !== undefined) {
    const baseUrl = given.baseUrl ?? env["OPENAI_BASE_URL"] ?? "https://api.openai.com/v1";
    if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl))
      throw new Fault("USAGE", `Flag --base-url got "${baseUrl}"; give an address such as http://127.0.0.1:8080/v1`);
    const chat = createChat({ clock, random, post: postHttp, baseUrl, key, model: given.model });
    return { brain: createHttpBrain(chat, secrets.nonce()), end: async () => {} };
  }
  const connection = await openAsCommand(context, given);
  const cwd = context.temporaryDirectory();
  const open = () => createAgentTalk(context, connection, given.agent ?? "", cwd);
  const brain = createAcpBrain({ open, nonce: () => secrets.nonce() });
  return { brain, end: () => brain.end() };
}

// holdfast browse: one web task, finished although browsers die.
import { z } from "zod";
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
import { duration } from "../surface/command.ts";
import { createAgentTalk } from "./agent-talk.ts";
import { createBrowseLines } from "./browse-lines.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { noStartArg, openAsCommand } from "./plugin-session.ts";

const args = z.object({
  task: z.string().optional().describe("What to do, in words; or a steps file (NAME.json)"),
  cdp: z
    .array(z.string())
    .default([])
    .describe(
      "CDP endpoint, http(s):// or ws(s)://; repeat it for more (default: HOLDFAST_CDP_ENDPOINTS, else the config file, else a Chromium of our own)",
    ),
  steps: z.string().optional().describe("A steps file to run, no model needed"),
  agent: z.string().optional().describe("An agent as the brain, as holdfast agents lists it"),
  model: z.string().optional().describe("A model as the brain, over HTTP"),
  baseUrl: z
    .string()
    .optional()
    .describe(
      "Address of the OpenAI-compatible API (default: OPENAI_BASE_URL, else https://api.openai.com/v1); the key is in HOLDFAST_API_KEY or OPENAI_API_KEY",
    ),
  startUrl: z.string().optional().describe("The page to begin with"),
  timeout: duration().prefault("30m").describe("How long the whole task may take"),
  maxIterations: z
    .int()
    .min(1)
    .optional()
    .describe("How many iterations it may take (default 50; for a steps file as many as it needs)"),
  out: z.string().optional().describe("Directory for screenshots, trees, events and the steps performed"),
  allowDomain: z
    .array(z.string())
    .default([])
    .describe("Only this domain and what lies below it may be reached; repeat it for more"),
  secret: z.array(z.string()).default([]).describe("Name of an environment variable; {{NAME}} stands for its value"),
  secrets: z.string().optional().describe("File of secrets: NAME=value lines, or a JSON object"),
  standby: z
    .boolean()
    .optional()
    .describe("Keep a second browser connected (default: for http:// and loopback endpoints)"),
  carry: z
    .boolean()
    .default(false)
    .describe("Take cookies and storage along to a new browser (default for agents and models)"),
  fresh: z
    .boolean()
    .default(false)
    .describe("Begin on a new browser without cookies and storage (default for steps files)"),
  check: z.string().optional().describe("Only check this steps file"),
  schema: z.boolean().default(false).describe("Only print the JSON Schema of steps files"),
  noStart: noStartArg,
});
type Args = z.output<typeof args> & { port: number };

export const browse = holdfastCommand({
  name: "browse",
  args,
  positionals: ["task"],
  short: { o: "out" },
  examples: [
    { line: "holdfast browse --check login.json", says: "Whether a steps file is right" },
    { line: "holdfast browse --steps login.json --secret PASSWORD", says: "Runs it in a Chromium of our own" },
    {
      line: "holdfast browse --steps login.json --cdp http://127.0.0.1:9222 --cdp http://127.0.0.1:9223",
      says: "Goes on in the second browser when the first one dies",
    },
    {
      line: "holdfast browse 'Find the price of the blue one' --agent claude-code --start-url https://example.com",
      says: "An agent looks at the pages and decides",
    },
  ],
  details:
    "When a browser dies or freezes the task goes on in the next endpoint, from its start URL and with its plan. Steps files are run again from their first step on a blank browser unless --carry. What an agent or a model did is written as a steps file that runs without one.",
  endsItself: true,
  async run(given, context) {
    if (given.schema) return show(context, stepsFileSchema());
    if (given.check !== undefined) return await check(context, given.check);
    await runTask(given, context);
    return 0;
  },
});

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

async function runTask(given: Args, context: Context): Promise<void> {
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
  const urls = given.cdp.length > 0 ? given.cdp : fromEnv?.length ? fromEnv : (context.config.cdpEndpoints ?? []);
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
  given: Args,
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

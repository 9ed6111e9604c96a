// holdfast browse: one web task, finished although browsers die.
import { z } from "zod";
import { createAcpBrain } from "../browser/acp-brain.ts";
import type { Brain } from "../browser/brain.ts";
import { type BrowseOptions, browse as browseTask } from "../browser/browse.ts";
import { createChat } from "../browser/chat.ts";
import { createHttpBrain } from "../browser/http-brain.ts";
import { keepNewest } from "../browser/kept-steps.ts";
import { createStepsBrain } from "../browser/steps-brain.ts";
import { readSteps, readTask } from "../browser/task-options.ts";
import { fileBelow, writePrivateBytes } from "../platform/browse-files.ts";
import { createBrowsers } from "../platform/browser-process.ts";
import { postHttp } from "../platform/http-post.ts";
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
    if (given.check !== undefined) return check(context, given.check, await readSteps(context, given.check));
    const { setup, steps } = await readTask(given, { ...pick(context), cdpEndpoints: context.config.cdpEndpoints });
    const key = context.env["HOLDFAST_API_KEY"] ?? context.env["OPENAI_API_KEY"];
    const brain = steps ? createStepsBrain(steps) : await openBrain(given, context, key);
    const hidden = key ? [{ mask: "***", value: key }] : [];
    await runTask(context, {
      ...setup,
      hidden,
      brain,
      stepsFile: () => keepNewest(context.world, `${context.state.directory}/browse`),
    });
    return 0;
  },
});

const pick = ({ env, absolute, readFile }: Context) => ({ env, absolute, readFile });

function show({ printer }: Context, value: unknown): number {
  printer.json(value);
  printer.line(JSON.stringify(value, null, 2));
  return 0;
}

function check({ printer }: Context, file: string, { steps }: StepsFile): number {
  printer.json({ file, steps: steps.length });
  printer.line(`${file} is right: ${steps.length} steps`);
  return 0;
}

async function runTask(context: Context, options: BrowseOptions): Promise<void> {
  const { world, env, printer, signal, state } = context;
  const isFile = options.brain.kind === "steps";
  const lines = createBrowseLines(printer);
  try {
    const { end, data } = await browseTask(options, {
      world,
      browsers: createBrowsers(`${state.directory}/browsers`, env),
      writeBytes: writePrivateBytes,
      // A page must not be able to talk a brain into giving away what it likes.
      uploadable: (path) => (isFile ? context.absolute(path) : fileBelow(context.absolute("."), path)),
      tell: lines.tell,
      signal,
    });
    lines.end();
    if (!isFile) printer.line(printer.safe(end.answer ?? ""));
    for (const [name, value] of Object.entries(data)) printer.line(printer.safe(`${name}: ${value}`));
  } finally {
    lines.end();
  }
}

async function openBrain(given: Args, context: Context, key: string | undefined): Promise<Brain> {
  const { clock, random, secrets } = context.world;
  if (given.model !== undefined) {
    const baseUrl = given.baseUrl ?? context.env["OPENAI_BASE_URL"] ?? "https://api.openai.com/v1";
    const chat = createChat({ clock, random, post: postHttp, baseUrl, key, model: given.model });
    return createHttpBrain(chat, secrets.nonce());
  }
  const connection = await openAsCommand(context, given);
  const cwd = context.temporaryDirectory();
  const open = () => createAgentTalk(context, connection, given.agent ?? "", cwd);
  return createAcpBrain({ open, nonce: secrets.nonce });
}

// How does holdfast browse run one task? Its brain, its endpoints and its secrets are put together here.
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
import { openForAgents } from "./agent-session.ts";
import { createAgentTalk } from "./agent-talk.ts";
import type { BrowseArgs } from "./browse.ts";
import { createBrowseLines } from "./browse-lines.ts";
import type { Context } from "./context.ts";

export async function runBrowse(given: BrowseArgs, context: Context): Promise<number> {
  if (given.schema) return show(context, stepsFileSchema());
  if (given.check !== undefined) return check(context, given.check, await readSteps(context, given.check));
  const { setup, steps } = await readTask(given, {
    ...pick(context),
    cdpEndpoints: (await context.config()).cdpEndpoints,
  });
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
}

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
      showPicture: (png) => context.showPicture?.(png, "image/png"),
      signal,
    });
    lines.end();
    if (!isFile) printer.line(printer.safe(end.answer ?? ""));
    for (const [name, value] of Object.entries(data)) printer.line(printer.safe(`${name}: ${value}`));
  } finally {
    lines.end();
  }
}

async function openBrain(given: BrowseArgs, context: Context, key: string | undefined): Promise<Brain> {
  const { clock, random, secrets } = context.world;
  if (given.model !== undefined) {
    const baseUrl = given.baseUrl ?? context.env["OPENAI_BASE_URL"] ?? "https://api.openai.com/v1";
    const chat = createChat({ clock, random, post: postHttp, baseUrl, key, model: given.model });
    return createHttpBrain(chat, secrets.nonce());
  }
  const connection = await openForAgents(context, given);
  const cwd = context.temporaryDirectory();
  const open = () => createAgentTalk(context, connection, given.agent ?? "", cwd);
  return createAcpBrain({ open, nonce: secrets.nonce });
}

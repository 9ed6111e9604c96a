// holdfast browse: one web task, finished although browsers die.
import { duration, list, text, toggle, type Values, whole } from "../surface/argument.ts";
import { holdfastCommand } from "./context.ts";
import { noStartArg } from "./plugin-session.ts";

const args = {
  task: text("What to do, in words; or a steps file (NAME.json)", { optional: true, completes: "file" }),
  cdp: list(
    "CDP endpoint, http(s):// or ws(s)://; repeat it for more (default: HOLDFAST_CDP_ENDPOINTS, else the config file, else a Chromium of our own)",
  ),
  steps: text("A steps file to run, no model needed", { optional: true, completes: "file" }),
  agent: text("An agent as the brain, as holdfast agents lists it", { optional: true, completes: "agent" }),
  model: text("A model as the brain, over HTTP", { optional: true }),
  baseUrl: text(
    "Address of the OpenAI-compatible API (default: OPENAI_BASE_URL, else https://api.openai.com/v1); the key is in HOLDFAST_API_KEY or OPENAI_API_KEY",
    { optional: true },
  ),
  startUrl: text("The page to begin with", { optional: true }),
  timeout: duration("How long the whole task may take", { default: "30m" }),
  maxIterations: whole("How many iterations it may take (default 50; for a steps file as many as it needs)", {
    min: 1,
    optional: true,
  }),
  out: text("Directory for screenshots, trees, events and the steps performed", {
    optional: true,
    completes: "directory",
  }),
  allowDomain: list("Only this domain and what lies below it may be reached; repeat it for more"),
  secret: list("Name of an environment variable; {{NAME}} stands for its value"),
  secrets: text("File of secrets: NAME=value lines, or a JSON object", { optional: true, completes: "file" }),
  standby: toggle("Keep a second browser connected (default: for http:// and loopback endpoints)", { optional: true }),
  carry: toggle("Take cookies and storage along to a new browser (default for agents and models)"),
  fresh: toggle("Begin on a new browser without cookies and storage (default for steps files)"),
  check: text("Only check this steps file", { optional: true, completes: "file" }),
  schema: toggle("Only print the JSON Schema of steps files"),
  noStart: noStartArg,
};
export type BrowseArgs = Values<typeof args> & { port: number };

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
    // Not before it is needed: what a task takes to run is more than all other commands together.
    const { runBrowse } = await import("./browse-task.ts");
    return await runBrowse(given, context);
  },
});

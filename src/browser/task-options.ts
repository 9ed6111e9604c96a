// What is asked for, and is it right? The words of a command become the options of a task, or one fault that says why not.
import { createAllows, isDomain } from "../core/allowed-domains.ts";
import { type Endpoint, localEndpoints, parseEndpoints } from "../core/endpoints.ts";
import { DEFAULT_LIMITS, type Limits } from "../core/web-task.ts";
import { Fault } from "../protocol/fault.ts";
import type { StepsFile } from "../protocol/web-task.ts";
import type { BrowseOptions } from "./browse.ts";
import { mustKnow, readSecrets } from "./secrets.ts";
import { readStepsFile } from "./steps-file.ts";

export interface Given {
  task?: string | undefined;
  cdp: readonly string[];
  steps?: string | undefined;
  agent?: string | undefined;
  model?: string | undefined;
  startUrl?: string | undefined;
  timeout: number;
  maxIterations?: number | undefined;
  out?: string | undefined;
  allowDomain: readonly string[];
  secret: readonly string[];
  secrets?: string | undefined;
  standby?: boolean | undefined;
  carry: boolean;
  fresh: boolean;
}

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  /** Of the config file. */
  cdpEndpoints: readonly string[] | undefined;
  absolute(path: string): string;
  readFile(path: string): Promise<string>;
}

export type TaskSetup = Omit<BrowseOptions, "brain" | "hidden" | "stepsFile">;

const refuse = (message: string): never => {
  throw new Fault("USAGE", message);
};

type Disk = Pick<Surroundings, "absolute" | "readFile">;

export async function readText({ absolute, readFile }: Disk, path: string, what: string): Promise<string> {
  try {
    return await readFile(absolute(path));
  } catch (thrown) {
    throw new Fault("USAGE", `The ${what} "${path}" cannot be read`, { path }, { cause: thrown });
  }
}

export const readSteps = async (around: Disk, path: string): Promise<StepsFile> =>
  readStepsFile(path, await readText(around, path, "steps file"));

function mustMakeSense({ carry, fresh, allowDomain, startUrl }: Given, brains: readonly (string | undefined)[]): void {
  if (brains.filter((each) => each !== undefined).length !== 1)
    refuse(
      "A task needs one brain: give a steps file (--steps FILE), an agent (--agent NAME) or a model (--model NAME)",
    );
  if (carry && fresh) refuse("Flags --carry and --fresh exclude each other; give one");
  const domain = allowDomain.find((each) => !isDomain(each));
  if (domain !== undefined) refuse(`Flag --allow-domain got "${domain}"; give a name such as example.com`);
  if (startUrl !== undefined && !URL.canParse(startUrl))
    refuse(`Flag --start-url got "${startUrl}"; give a whole address such as https://example.com`);
}

/** Flags, else the environment, else the config file, else a browser of our own. */
function endpointsOf({ cdp }: Given, { env, cdpEndpoints = [] }: Surroundings): Endpoint[] {
  const named = (env["HOLDFAST_CDP_ENDPOINTS"] ?? "").split(",").map((each) => each.trim());
  const found = [cdp, named.filter((each) => each !== ""), cdpEndpoints].find((list) => list.length > 0);
  return found ? parseEndpoints(found) : localEndpoints();
}

function limitsOf({ maxIterations }: Given, steps: StepsFile | undefined, endpoints: number): Limits {
  const { maxIterations: usual } = DEFAULT_LIMITS;
  // A file may have more steps than that, and runs them again on each browser.
  const needed = steps ? steps.steps.length * endpoints + usual : usual;
  return { ...DEFAULT_LIMITS, maxIterations: maxIterations ?? needed };
}

export async function readTask(
  given: Given,
  around: Surroundings,
): Promise<{ setup: TaskSetup; steps: StepsFile | undefined }> {
  const path = given.steps ?? (given.task?.endsWith(".json") ? given.task : undefined);
  mustMakeSense(given, [path, given.agent, given.model]);
  const steps = path === undefined ? undefined : await readSteps(around, path);
  const task = (steps ? (steps.task ?? path) : given.task) ?? refuse("Missing TASK; say in words what is to be done");
  const { secrets: file } = given;
  const text = file === undefined ? undefined : { path: file, text: await readText(around, file, "file of secrets") };
  const secrets = readSecrets({ names: given.secret, file: text, env: around.env });
  if (steps) mustKnow(steps, secrets);
  const endpoints = endpointsOf(given, around);
  const setup: TaskSetup = {
    task,
    startUrl: given.startUrl ?? steps?.startUrl,
    endpoints,
    standby: given.standby,
    carry: given.carry || (!steps && !given.fresh),
    limits: limitsOf(given, steps, endpoints.length),
    timeoutMs: given.timeout,
    allows: createAllows(given.allowDomain),
    allowedDomains: given.allowDomain,
    secrets,
    out: given.out === undefined ? undefined : around.absolute(given.out),
  };
  return { setup, steps };
}

// Which agents are there, as far as this process knows? The built-in ones and those of the config file.
import { BUILT_IN } from "../agents/definitions.ts";
import { Fault } from "../protocol/fault.ts";
import { nearest } from "../surface/suggest.ts";
import { listAgents } from "./agent-list.ts";
import type { Context } from "./context.ts";
import { within } from "./time-limit.ts";

/** By name, with what each is. */
export async function agentsKnownHere(context: Context): Promise<Map<string, string>> {
  const own = context.configText().text === undefined ? {} : (await context.config().catch(() => undefined))?.agents;
  const all = new Map(BUILT_IN.map(({ name, displayName }) => [name, displayName]));
  all.set("demo", "Part of holdfast, needs no account");
  for (const [name, { displayName }] of Object.entries(own ?? {})) all.set(name, displayName ?? name);
  return all;
}

const LOOK_MS = 5_000;

/** A host that runs may have another config file; none is started to ask it. */
export async function mustBeKnown(context: Context, port: number, agent: string): Promise<void> {
  const here = await agentsKnownHere(context);
  if (here.has(agent)) return;
  const ask = async () => await listAgents(await context.open({ port, mode: "command" }), "");
  const there = (await within(context, LOOK_MS, ask()).catch(() => [])).map(({ name }) => name);
  if (there.includes(agent)) return;
  const names = [...new Set([...here.keys(), ...there])];
  const close = nearest(agent, names);
  const hint = close ? `did you mean "${close}"? There are` : "there are";
  throw new Fault("AGENT_NOT_FOUND", `There is no agent "${agent}"; ${hint}: ${names.join(", ")}`, { agent });
}

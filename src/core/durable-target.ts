// How is an element found again without its ref? By what the snapshot says of it: role, name, and which of several.
import type { BrainAction, PageAction, Step, Target } from "../protocol/web-task.ts";

interface Entry {
  ref: string;
  role: string;
  name: string | undefined;
}

const LINE = /^\s*- '?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?.*?\[ref=([a-z0-9]+)\]/i;

const unquoted = (text: string): string => text.replaceAll(/\\(.)/g, "$1");

function entries(tree: string): Entry[] {
  return tree.split("\n").flatMap((line) => {
    const [, role, name, ref] = LINE.exec(line) ?? [];
    return role && ref ? [{ ref, role, name: name === undefined ? undefined : unquoted(name) }] : [];
  });
}

/** Undefined where the snapshot does not know it. */
export function durableTarget(tree: string, target: Target): Target | undefined {
  if (target.ref === undefined) return target;
  const all = entries(tree);
  const found = all.find(({ ref }) => ref === target.ref);
  if (!found) return undefined;
  const same = all.filter(({ role, name }) => role === found.role && name === found.name);
  const nth = same.length > 1 ? { nth: same.indexOf(found) } : {};
  return { role: found.role, ...(found.name === undefined ? {} : { name: found.name }), ...nth };
}

/** The same action for a steps file; undefined where it cannot be written down. */
export function durableStep(tree: string, action: BrainAction | PageAction): Step | undefined {
  if (action.action === "done" || action.action === "abort") return undefined;
  if (!("target" in action) || action.target === undefined) return action as Step;
  const target = durableTarget(tree, action.target);
  return target ? ({ ...action, target } as Step) : undefined;
}

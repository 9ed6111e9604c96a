// May the agent do this? By the session's policy, answered with the agent's own option of the right kind.
import type { PermissionOption } from "../protocol/acp.ts";
import type { Policy } from "../protocol/agents.ts";

export type PermissionDecision = { kind: "select"; optionId: string } | { kind: "cancel" } | { kind: "ask" };

const READS: ReadonlySet<string> = new Set(["read", "search", "think"]);

/** Once rather than always: a policy is the session's, and must not outlive it in the agent's own settings. */
const ORDER = { allow: ["allow_once", "allow_always"], reject: ["reject_once", "reject_always"] } as const;

function choose(options: readonly PermissionOption[], what: keyof typeof ORDER): PermissionDecision {
  for (const kind of ORDER[what]) {
    const option = options.find((each) => each.kind === kind);
    if (option) return { kind: "select", optionId: option.optionId };
  }
  return { kind: "cancel" };
}

export function decidePermission(
  policy: Policy,
  toolKind: string | null | undefined,
  options: readonly PermissionOption[],
): PermissionDecision {
  if (policy === "ask") return { kind: "ask" };
  if (policy === "allow") return choose(options, "allow");
  if (policy === "allow-reads" && toolKind && READS.has(toolKind)) return choose(options, "allow");
  return choose(options, "reject");
}

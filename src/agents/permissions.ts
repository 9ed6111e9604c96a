// What may the agent do? The session's policy answers, or else whoever is attached; the first answer wins.
import { decidePermission } from "../core/permission.ts";
import type { FoldedPermission } from "../core/session-fold.ts";
import type { PermissionOutcome, PermissionParams } from "../protocol/acp.ts";
import type { Policy } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";

export interface Permissions {
  /** Requests without an answer. */
  readonly open: number;
  ask(params: PermissionParams, permissionId: string, policy: Policy): Promise<PermissionOutcome>;
  /** Null: it is taken back. */
  answer(permissionId: string, optionId: string | null, by: string): void;
  /** This one, or all of them. */
  cancel(by: string, permissionId?: string): void;
}

interface Asked {
  params: PermissionParams;
  settle(outcome: PermissionOutcome): void;
}

export function createPermissions(
  record: (type: string, data: Record<string, unknown>) => void,
  changed: () => void,
  /** What is on record of a request: an earlier host may have asked, and been answered. */
  known: (permissionId: string) => FoldedPermission | undefined = () => undefined,
): Permissions {
  const open = new Map<string, Asked>();
  /** Answers to what an earlier host asked, and this one has not read yet. */
  const early = new Map<string, { optionId: string | null; by: string }>();
  /** The first release knew a request by its id alone; so does an agent that takes one back. */
  const isMeant = (permissionId: string, by: string): boolean =>
    permissionId === by || permissionId.startsWith(`${by}@`);

  const settle = (permissionId: string, outcome: PermissionOutcome, by: string): void => {
    const asked = open.get(permissionId);
    open.delete(permissionId);
    asked?.settle(outcome);
    record("permission-resolved", { permissionId, ...outcome, by });
    changed();
  };

  const answer = (permissionId: string, optionId: string | null, by: string): void => {
    const asked = open.get(permissionId);
    const earlier = known(permissionId);
    if (!asked && earlier && !earlier.outcome) return void early.set(permissionId, { optionId, by });
    if (!asked) throw new Fault("REFUSED", `The permission request "${permissionId}" is answered already`);
    if (optionId === null) return settle(permissionId, { outcome: "cancelled" }, by);
    const right = asked.params.options.map((each) => each.optionId);
    if (!right.includes(optionId))
      throw new Fault("USAGE", `There is no option "${optionId}"; there are: ${right.join(", ")}`);
    settle(permissionId, { outcome: "selected", optionId }, by);
  };
  const answerEarly = (permissionId: string): void => {
    const given = early.get(permissionId);
    if (!given || !early.delete(permissionId)) return;
    try {
      answer(permissionId, given.optionId, given.by);
    } catch {
      // It named no option of this request: somebody else may answer.
    }
  };

  return {
    get open() {
      return open.size;
    },
    ask(params, asked, policy) {
      const { toolCall, options } = params;
      const earlier = known(asked) ?? known(asked.replace(/@\d+$/, ""));
      const permissionId = earlier?.permissionId ?? asked;
      if (earlier?.outcome) return Promise.resolve(earlier.outcome as unknown as PermissionOutcome);
      const decision = decidePermission(policy, toolCall.kind, options);
      if (!earlier) record("permission-requested", { permissionId, toolCall, options, policy });
      const { promise, resolve } = Promise.withResolvers<PermissionOutcome>();
      open.set(permissionId, { params, settle: resolve });
      if (decision.kind === "select") {
        settle(permissionId, { outcome: "selected", optionId: decision.optionId }, "policy");
      } else if (decision.kind === "cancel") settle(permissionId, { outcome: "cancelled" }, "policy");
      else {
        changed();
        answerEarly(permissionId);
      }
      return promise;
    },
    answer,
    cancel(by, permissionId) {
      // What was allowed in a turn that is to end is not allowed any more.
      if (permissionId === undefined) early.clear();
      else early.delete(permissionId);
      for (const each of [...open.keys()]) {
        if (permissionId === undefined || isMeant(each, permissionId)) settle(each, { outcome: "cancelled" }, by);
      }
    },
  };
}

// Is a permission answered by policy and by kind? With the agent's own option, whatever it is called.
import { describe, expect, test } from "bun:test";
import { decidePermission } from "../../src/core/permission.ts";
import type { PermissionOption } from "../../src/protocol/acp.ts";

const option = (optionId: string, kind: string): PermissionOption => ({ optionId, kind, name: optionId });
/** As odd as real ones: ids say nothing, and come in no order. */
const OPTIONS = [
  option("never", "reject_always"),
  option("y", "allow_always"),
  option("proceed_once", "allow_once"),
  option("42", "reject_once"),
];

describe("a permission", () => {
  test("[AC4] is answered by kind, once before always, with the agent's own option id", () => {
    expect(decidePermission("allow", "edit", OPTIONS)).toEqual({ kind: "select", optionId: "proceed_once" });
    expect(decidePermission("deny", "edit", OPTIONS)).toEqual({ kind: "select", optionId: "42" });
  });

  test("[AC4] takes always only where there is no once", () => {
    const always = OPTIONS.filter(({ kind }) => kind.endsWith("always"));
    expect(decidePermission("allow", "edit", always)).toEqual({ kind: "select", optionId: "y" });
    expect(decidePermission("deny", "edit", always)).toEqual({ kind: "select", optionId: "never" });
  });

  test("[AC4] an option called allow whose kind is to reject is not taken for an allowance", () => {
    const twisted = [option("allow", "reject_once"), option("deny", "allow_once")];
    expect(decidePermission("allow", "read", twisted)).toEqual({ kind: "select", optionId: "deny" });
    expect(decidePermission("deny", "read", twisted)).toEqual({ kind: "select", optionId: "allow" });
  });

  test("[AC4] is cancelled where no option is of the right kind", () => {
    expect(decidePermission("allow", "edit", [])).toEqual({ kind: "cancel" });
    expect(decidePermission("deny", "edit", [option("y", "allow_once")])).toEqual({ kind: "cancel" });
    expect(decidePermission("deny", "edit", [option("z", "something_new")])).toEqual({ kind: "cancel" });
  });

  test("[SE4] allow-reads allows what only reads, and nothing whose kind is not told", () => {
    const kinds = ["read", "search", "think", "edit", "delete", "move", "execute", "fetch", "switch_mode", "other"];
    const allowed = [...kinds, "", null, undefined, "Read"].filter(
      (kind) => (decidePermission("allow-reads", kind, OPTIONS) as { optionId: string }).optionId === "proceed_once",
    );
    expect(allowed).toEqual(["read", "search", "think"]);
  });

  test("[SE4] [SC5] ask decides nothing, whatever is asked", () => {
    expect(decidePermission("ask", "read", OPTIONS)).toEqual({ kind: "ask" });
    expect(decidePermission("ask", undefined, [])).toEqual({ kind: "ask" });
  });
});

// Which element is meant? By a snapshot's ref, or by role and name, label, text or css, in any frame of the page.
import { InvalidRefException } from "../protocol/browser-fault.ts";
import type { Target } from "../protocol/web-task.ts";
import type { Frame, Locator, Page } from "./playwright.ts";

type Role = Parameters<Page["getByRole"]>[0];

function inFrame(frame: Frame, { role, name, label, text, css, nth }: Target, exact = true): Locator {
  const found =
    role !== undefined
      ? frame.getByRole(role as Role, name === undefined ? {} : { name, exact: true })
      : label !== undefined
        ? frame.getByLabel(label, { exact })
        : text !== undefined
          ? frame.getByText(text)
          : frame.locator(css ?? "body");
  return nth === undefined ? found : found.nth(nth);
}

export async function locate(page: Page, target: Target): Promise<Locator> {
  if (target.ref !== undefined) {
    const found = page.locator(`aria-ref=${target.ref}`);
    // Asked at once: a stale ref would be waited for until the time is over.
    if ((await found.count()) === 0) throw new InvalidRefException(target.ref);
    return found;
  }
  const [main, ...others] = page.frames();
  if (!main) throw new InvalidRefException("page");
  for (const frame of others.length > 0 ? [main, ...others] : []) {
    if (
      (await inFrame(frame, target)
        .count()
        .catch(() => 0)) > 0
    )
      return inFrame(frame, target);
  }
  // A label around its field holds the field's own words too.
  if (target.label !== undefined && (await inFrame(main, target).count()) === 0) return inFrame(main, target, false);
  // Perhaps it is still to come: the action waits for it.
  return inFrame(main, target);
}

export const describe = (target: Target): string =>
  Object.entries(target)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(" ");

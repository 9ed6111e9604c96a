// How is a browser kept to some domains? At the network: routes for requests, and our own stop for redirects,
// which the library lets through by itself.
import type { Allows } from "../core/allowed-domains.ts";
import type { BrowserContext, CDPSession, Frame, Page } from "./playwright.ts";

interface Paused {
  requestId: string;
  request: { url: string };
}

async function stopRedirects(session: CDPSession, allows: Allows): Promise<void> {
  session.on("Fetch.requestPaused", ({ requestId, request }: Paused) => {
    const answer = allows(request.url)
      ? session.send("Fetch.continueRequest", { requestId })
      : session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
    // The page may be gone.
    answer.catch(() => undefined);
  });
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*", requestStage: "Request" }] });
}

export async function fence(context: BrowserContext, allows: Allows): Promise<{ ready: Promise<void> }> {
  await context.route(
    (url) => !allows(url.href),
    (route) => route.abort("blockedbyclient"),
  );
  await context.routeWebSocket(
    (url) => !allows(url.href),
    (socket) => socket.close({ code: 1008, reason: "Not allowed" }),
  );
  const ready = Promise.withResolvers<void>();
  const guard = (target: Page | Frame): Promise<void> =>
    context
      .newCDPSession(target)
      .then((session) => stopRedirects(session, allows))
      .catch(() => undefined);
  context.on("page", (page) => {
    void guard(page).then(ready.resolve);
    // Only frames of another site have a target of their own; for others this fails, and the page's session sees them.
    page.on("frameattached", (frame) => void guard(frame));
    page.on("framenavigated", (frame) => (frame.parentFrame() ? void guard(frame) : undefined));
  });
  return { ready: ready.promise };
}

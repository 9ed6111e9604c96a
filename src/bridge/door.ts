// Who gets in? Names, origins, tokens and limits, judged before a socket exists.
import { knock } from "../core/gate.ts";
import type { Attach, HttpAnswer, HttpRequest, Secrets } from "../platform/world.ts";
import type { Health } from "../protocol/health.ts";
import type { Settings } from "../protocol/settings.ts";
import { NONCE_HEADER } from "../protocol/vocabulary.ts";

interface Deps {
  secrets: Secrets;
  settings: Settings;
  isClosing(): boolean;
  health(): Health;
  counts(): { clients: number; plugins: number };
  attachClient(nonce: string | null): Attach;
  attachPlugin(mustProve: boolean): Attach;
}

const text = (status: number, body: string): HttpAnswer => ({ kind: "text", status, body });

export const createDoor =
  ({ secrets, settings, isClosing, health, counts, attachClient, attachPlugin }: Deps) =>
  (request: HttpRequest): HttpAnswer => {
    const { method, path, upgrade } = request;
    const gate = knock({ method, path, upgrade, host: request.header("host"), origin: request.header("origin") });
    if (gate.kind === "closed") return text(gate.status, gate.why);
    if (isClosing()) return text(503, "");
    if (path === "/health") return { kind: "json", status: 200, body: health() };
    const { clients, plugins } = counts();
    if (path === "/client") {
      if (clients >= settings.limits.clients) return text(503, `Full: ${clients} clients are connected`);
      return { kind: "upgrade", attach: attachClient(request.header(NONCE_HEADER)) };
    }
    if (plugins >= settings.limits.plugins) return text(503, `Full: ${plugins} plugins are connected`);
    const { pluginToken } = settings;
    if (pluginToken === null) return { kind: "upgrade", attach: attachPlugin(false) };
    const shown = request.header("authorization")?.replace(/^Bearer /i, "") ?? request.query.get("token");
    if (shown !== null && !secrets.equal(shown, pluginToken)) return text(401, "The plugin token is wrong");
    return { kind: "upgrade", attach: attachPlugin(shown === null) };
  };

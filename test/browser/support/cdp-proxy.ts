// What if a browser refuses a single command, or never answers it? A proxy in front of a real one, for the test to say.
import type { Chromium } from "./chromium.ts";

export interface Command {
  id: number;
  method: string;
  params?: Record<string, unknown>;
  sessionId?: string;
}

export interface CdpProxy {
  readonly url: string;
  end(): void;
}

/** What becomes of a command: it goes on (undefined), is never answered, or fails with the text. */
export type Meddle = (command: Command) => "mute" | { error: string } | undefined;

export function proxyCdp({ webSocketUrl }: Chromium, meddle: Meddle): CdpProxy {
  const server = Bun.serve<{ browser: WebSocket; early: string[] }>({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, self): Response | undefined {
      const data = { browser: new WebSocket(webSocketUrl), early: [] };
      return self.upgrade(request, { data }) ? undefined : new Response("", { status: 400 });
    },
    websocket: {
      maxPayloadLength: 64 << 20,
      open(client) {
        const { browser, early } = client.data;
        browser.onmessage = ({ data }) => void client.send(String(data));
        browser.onclose = () => client.close();
        browser.onopen = () => {
          for (const text of early.splice(0)) browser.send(text);
        };
      },
      message(client, raw) {
        const text = String(raw);
        const { browser, early } = client.data;
        const { id, sessionId, ...rest } = JSON.parse(text) as Command;
        const fate = meddle({ id, ...(sessionId === undefined ? {} : { sessionId }), ...rest });
        if (fate === "mute") return;
        if (fate) client.send(JSON.stringify({ id, sessionId, error: { code: -32000, message: fate.error } }));
        else if (browser.readyState === WebSocket.OPEN) browser.send(text);
        else early.push(text);
      },
      close: ({ data: { browser } }) => browser.close(),
    },
  });
  return { url: `ws://127.0.0.1:${server.port}`, end: () => void server.stop(true) };
}

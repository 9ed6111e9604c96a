// What does the way through a third process cost at the least? Frames pass as they are: no routing, no parsing.

type End = "client" | "plugin";
type Socket = Bun.ServerWebSocket<{ end: End }>;

const ends = new Map<End, Socket>();

const server = Bun.serve<{ end: End }>({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request, self) {
    const end = request.url.endsWith("/client") ? "client" : "plugin";
    return self.upgrade(request, { data: { end } }) ? undefined : new Response("", { status: 400 });
  },
  websocket: {
    open: (ws) => void ends.set(ws.data.end, ws),
    message: (ws, frame) => void ends.get(ws.data.end === "client" ? "plugin" : "client")?.send(frame),
    close: (ws) => void ends.delete(ws.data.end),
  },
});
console.log(JSON.stringify({ type: "listening", port: server.port }));

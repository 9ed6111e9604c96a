// How does codex come to a tool call? The offline model makes none on the Responses wire: this one does, and hands on the rest.

interface Item {
  type?: string;
  role?: string;
  content?: unknown;
}

/** Asked for in a prompt, and not answered yet. */
const wantsTool = (input: readonly Item[]): boolean => {
  const asked = input.findLastIndex(({ role, content }) => role === "user" && JSON.stringify(content).includes("TOOL"));
  const last = input.findLastIndex(({ role }) => role === "user");
  return asked >= 0 && asked === last && !input.slice(asked).some(({ type }) => type?.endsWith("_call_output"));
};

const COMMAND = "touch tool-ran";

/** As the tool that it was offered wants it. */
const argumentsFor = (tool: string): object => {
  const asking = {
    with_escalated_permissions: true,
    sandbox_permissions: "require_escalated",
    justification: "A test",
  };
  if (tool === "exec_command") return { cmd: COMMAND, ...asking };
  return { command: tool === "shell_command" ? COMMAND : ["bash", "-lc", COMMAND], ...asking };
};

export function startToolModel(port: number, modelUrl: string): { end(): void } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 255,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.text() : undefined;
      const asked = pathname.endsWith("/responses") && body ? JSON.parse(body) : {};
      const tool = (asked.tools ?? []).map(({ name }: { name?: string }) => name);
      const name = ["shell", "shell_command", "exec_command"].find((each) => tool.includes(each));
      if (name && Array.isArray(asked.input) && wantsTool(asked.input)) return callOf(name, asked.model);
      return await fetch(`${modelUrl}${pathname}${search}`, {
        method: request.method,
        headers: { "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
      });
    },
  });
  return { end: () => void server.stop(true) };
}

function callOf(name: string, model: unknown): Response {
  const id = `${Date.now()}`;
  const item = {
    ...{ id: `fc_${id}`, type: "function_call", status: "completed", name, call_id: `call_${id}` },
    arguments: JSON.stringify(argumentsFor(name)),
  };
  const base = { id: `resp_${id}`, object: "response", created_at: 1, status: "in_progress", model, output: [] };
  const usage = {
    ...{ input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  };
  const events = [
    { type: "response.created", response: base },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...base, status: "completed", output: [item], usage } },
  ];
  const text = events.map(
    (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`,
  );
  return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
}

// The embedded agent, as a process of its own: a real ACP agent on stdio.
import { createDemoAgent } from "../agents/demo-agent/agent.ts";
import { createConversationStore, demoStore } from "../agents/demo-agent/store.ts";
import { createLineOut, readInput, startShell } from "../platform/stdio.ts";
import { createLineSplitter } from "../rpc/lines.ts";
import { holdfastCommand } from "./context.ts";

export const demoAgent = holdfastCommand({
  name: "demo-agent",
  args: {},
  examples: [{ line: "holdfast demo-agent", says: "What holdfast prompt demo talks to" }],
  endsItself: true,
  async run(_, { signal, state, world }) {
    const { clock, files, newId } = world;
    const over = new AbortController();
    let code = 0;
    const agent = createDemoAgent({
      clock,
      newId,
      store: createConversationStore(files, demoStore(state.directory)),
      write: createLineOut(),
      shell: startShell,
      die(with_) {
        code = with_;
        over.abort();
      },
    });
    const splitter = createLineSplitter({ line: (text) => agent.receive(text), tooLong() {} });
    await readInput((bytes) => splitter.push(bytes), AbortSignal.any([signal, over.signal]));
    agent.end(new Error("The input ended"));
    return code;
  },
});

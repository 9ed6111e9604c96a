// How is a model asked over HTTP? One POST whose answer is read as it comes.
import { messageOf } from "../protocol/fault.ts";
import type { PostHttp } from "./browser-world.ts";

export const postHttp: PostHttp = async ({ url, headers, body, signal }) => {
  try {
    const response = await fetch(url, { method: "POST", headers: { ...headers }, body, signal, redirect: "manual" });
    return {
      kind: "answer",
      status: response.status,
      header: (name) => response.headers.get(name),
      async *texts() {
        const decoder = new TextDecoder();
        for await (const bytes of response.body ?? []) yield decoder.decode(bytes, { stream: true });
      },
    };
  } catch (thrown) {
    signal.throwIfAborted();
    return { kind: "unreachable", message: messageOf(thrown) };
  }
};

// How does a prompt of an editor become text? Texts as they are, links by their address, files with what they hold.

/** `kind: "wrong"` says which block cannot be taken. */
export type PromptText = { kind: "text"; text: string } | { kind: "wrong"; message: string };

type Block = Record<string, unknown>;

const isBlock = (value: unknown): value is Block => typeof value === "object" && value !== null;

function textOf(block: unknown): string | undefined {
  if (!isBlock(block)) return undefined;
  const { type, text, uri, name, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource_link" && typeof uri === "string") {
    return typeof name === "string" && name !== "" ? `[${name}](${uri})` : uri;
  }
  if (type !== "resource" || !isBlock(resource)) return undefined;
  if (typeof resource["text"] !== "string" || typeof resource["uri"] !== "string") return undefined;
  return `\n<context uri="${resource["uri"]}">\n${resource["text"]}\n</context>\n`;
}

function nameOf(block: unknown): string {
  if (!isBlock(block)) return "no content block";
  if (block["type"] === "resource") return "a resource without text";
  return `"${String(block["type"])}"`;
}

export function promptText(blocks: unknown): PromptText {
  if (!Array.isArray(blocks) || blocks.length === 0) return { kind: "wrong", message: "The prompt has no content" };
  const texts = blocks.map(textOf);
  const odd = texts.indexOf(undefined);
  if (odd < 0) return { kind: "text", text: texts.join("") };
  const message = `Block ${odd + 1} of the prompt is ${nameOf(blocks[odd])}; text, resource links and text resources are taken`;
  return { kind: "wrong", message };
}

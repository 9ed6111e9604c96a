// How does a command's end look to an MCP client? Text and pictures, and where it failed the fault with its code.
import { FAULTS, isFaultCode } from "../../protocol/fault.ts";
import type { Called } from "../context.ts";

export interface Picture {
  bytes: Uint8Array;
  mimeType: string;
}

const text = (value: string) => ({ type: "text", text: value });

export function resultOf(
  { code: exitCode, text: said, notes, fault }: Called,
  pictures: readonly Picture[] = [],
): object {
  const images = pictures.map(({ bytes, mimeType }) => ({
    type: "image",
    data: Buffer.from(bytes).toString("base64"),
    mimeType,
  }));
  const retryable = fault && isFaultCode(fault.code) ? FAULTS[fault.code].again : undefined;
  const error = fault && text(JSON.stringify({ error: { ...fault, exitCode, retryable } }));
  const content = [
    ...images,
    ...(said.trim() === "" ? [] : [text(said.trimEnd())]),
    ...(notes.length === 0 ? [] : [text(notes.map((note) => `note: ${note}`).join("\n"))]),
    ...(error ? [error] : []),
  ];
  return {
    content: content.length > 0 ? content : [text(exitCode === 0 ? "Done" : `Failed with exit code ${exitCode}`)],
    ...(exitCode === 0 ? {} : { isError: true }),
  };
}

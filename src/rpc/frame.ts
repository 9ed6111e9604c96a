// Is this frame an object with a type? Anything else is counted and otherwise passed over.

export interface Frame {
  type: string;
  [key: string]: unknown;
}

export function parseFrame(text: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string") {
      return undefined;
    }
    return value as Frame;
  } catch {
    return undefined;
  }
}

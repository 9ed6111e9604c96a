// What must no sink ever show? Secrets by value, in every form a library, a page or a log may write them.

export interface Secret {
  /** What stands in its place. */
  mask: string;
  value: string;
}

export type Redact = <Value>(value: Value) => Value;

const MASK = "***";
/** Shorter ones are masked within the URL only: "true" must not vanish everywhere. */
const SHORTEST_URL_PART = 6;
const LONG_PATH_PART = 16;

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

const pathParts = ({ pathname }: URL): string[] => pathname.split("/").filter((part) => part.length >= LONG_PATH_PART);

/** For people: where it is, not how one gets in. */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return MASK;
  const url = new URL(text);
  const user = url.username || url.password ? `${MASK}@` : "";
  const path = url.pathname
    .split("/")
    .map((part) => (part.length >= LONG_PATH_PART ? MASK : part))
    .join("/");
  const query = [...url.searchParams.keys()].map((key) => `${key}=${MASK}`).join("&");
  return `${url.protocol}//${user}${url.host}${path}${query && `?${query}`}`;
}

export function secretsOfUrl(text: string): Secret[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const parts = [url.username, url.password, ...url.searchParams.values(), ...pathParts(url), url.hash.slice(1)];
  const masked = maskUrl(text);
  const whole = [text, url.href, url.href.replace(/\/$/, "")].map((value) => ({ mask: masked, value }));
  const single = parts
    .flatMap((part) => [part, decoded(part)])
    .filter((value) => value.length >= SHORTEST_URL_PART)
    .map((value) => ({ mask: MASK, value }));
  return masked === url.href || masked === text ? single : [...whole, ...single];
}

const html = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const namedHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** URLs, JSON, forms and markup each write it in their own way. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  encodeURI(value),
  encodeURIComponent(value).replaceAll("%20", "+"),
  JSON.stringify(value).slice(1, -1),
  html(value),
  namedHtml(value),
  btoa(String.fromCharCode(...new TextEncoder().encode(value))),
];

export function createRedact(secrets: readonly Secret[]): Redact {
  const masks = new Map<string, string>();
  for (const { mask, value } of secrets) {
    if (value === "") continue;
    for (const form of formsOf(value)) if (!masks.has(form)) masks.set(form, mask);
  }
  // The longest first: one secret may be part of another.
  const forms = [...masks.keys()].sort((left, right) => right.length - left.length);
  const text = (given: string): string => {
    let result = given;
    for (const form of forms) if (result.includes(form)) result = result.replaceAll(form, masks.get(form) ?? MASK);
    return result;
  };
  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), deep(each)]));
  };
  return (forms.length === 0 ? (value: unknown) => value : deep) as Redact;
}

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

export const placeholdersIn = (text: string): string[] => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name ?? "");

/** The other way round, at the last moment before the browser. Unknown names stay as they are. */
export const reveal = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);

/** Within an address a value must not become part of its syntax; at its very beginning it may be the address. */
export const revealInUrl = (url: string, values: ReadonlyMap<string, string>): string =>
  url.replace(PLACEHOLDER, (whole, name: string, offset: number) => {
    const value = values.get(name);
    if (value === undefined) return whole;
    return offset === 0 ? value : encodeURIComponent(value);
  });

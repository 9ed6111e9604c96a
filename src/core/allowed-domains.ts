// May this address be reached? With no list everything may; with one only its names and what lies below them.

const FREE: ReadonlySet<string> = new Set(["about:", "data:", "blob:"]);

export type Allows = (url: string) => boolean;

const hostOf = (domain: string): string => domain.toLowerCase().replace(/^\*\./, "").replace(/\.$/, "");

export function createAllows(domains: readonly string[]): Allows {
  if (domains.length === 0) return () => true;
  const names = domains.map(hostOf);
  return (text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, origin } = new URL(text);
    // A blob belongs to the page that made it.
    if (protocol === "blob:") return origin === "null" || names.some((name) => covers(name, new URL(origin).hostname));
    if (FREE.has(protocol)) return true;
    return names.some((name) => covers(name, hostname.toLowerCase().replace(/\.$/, "")));
  };
}

const covers = (name: string, host: string): boolean => host === name || host.endsWith(`.${name}`);

/** No scheme, no path, no port: those would be ignored in silence. */
export const isDomain = (text: string): boolean =>
  /^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$|^\[[0-9a-f:]+\]$/i.test(text);

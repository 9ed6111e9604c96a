// Which object is meant? Resolves the path, `find` and `listServices` of `queryDataModel`, and never calls a getter.
import { type Globals, propertyOf, type Resolved } from "./sandbox-globals.ts";
import { describePlace, type Member, membersOf, type Place, startWalk } from "./sandbox-objects.ts";
import { joinPath, parsePath } from "./sandbox-path.ts";
import { isObject } from "./sandbox-values.ts";
import { type DataModelQuery, type Failure, MAX_DEPTH, type QueryAnswer } from "./sandbox-wire.ts";

const MAX_SEARCHED = 1_000_000;
const MAX_SEARCHED_EACH = 10_000;

const notFound = (error: string): Failure => ({ success: false, code: "INSTANCE_NOT_FOUND", error });

const root = (): Place => ({ name: "globalThis", path: "", value: globalThis });

const memberOf = (place: Place, key: string, globals: Globals): Resolved =>
  place.path === "" ? globals.resolve(key) : propertyOf(place.value, key);

function* membersMade(globals: Globals): Iterable<Member> {
  for (const name of globals.made()) yield [name, globals.resolve(name)];
}

function locate(path: string, globals: Globals): Place | Failure {
  const keys = parsePath(path);
  if (!keys) return notFound(`"${path}" is no path; write it like "config.users[0].name"`);
  let place = root();
  for (const key of keys) {
    const next = joinPath(place.path, key);
    const found = memberOf(place, key, globals);
    if (found.kind === "missing") return notFound(`There is no "${next}" in the sandbox`);
    if (found.kind === "getter") return notFound(`"${next}" is a getter, and queries call no getters`);
    place = { name: key, path: next, value: found.value };
  }
  return place;
}

/** What scripts made comes first, then what was there before them. */
function* membersAt(place: Place, globals: Globals): Iterable<Member> {
  if (place.path === "") yield* membersMade(globals);
  yield* membersOf(place.value);
}

/** A function's own `name`, `length` and `prototype` are not what anybody looks for. */
const isListed = (value: unknown, key: string): boolean =>
  typeof value !== "function" || Object.prototype.propertyIsEnumerable.call(value, key);

/** Nearest first. Of big objects it looks at the first members only, so that it gets to the others. */
function search(start: Place, name: string, recursive: boolean, globals: Globals): Place | "nowhere" | "unsure" {
  const seen = new Set<unknown>([start.value]);
  const waiting = [start];
  let left = MAX_SEARCHED;
  let skipped = false;
  for (const at of waiting) {
    const direct = memberOf(at, name, globals);
    if (direct.kind === "value" && isListed(at.value, name)) {
      return { name, path: joinPath(at.path, name), value: direct.value };
    }
    if (!recursive) return "nowhere";
    const enough = Math.max(0, left - MAX_SEARCHED_EACH);
    for (const [key, found] of membersAt(at, globals)) {
      if (left <= enough) skipped = true;
      if (left <= enough) break;
      left -= 1;
      if (found.kind !== "value" || !isObject(found.value) || seen.has(found.value)) continue;
      seen.add(found.value);
      waiting.push({ name: key, path: joinPath(at.path, key), value: found.value });
    }
  }
  return skipped ? "unsure" : "nowhere";
}

export function queryObjects(query: DataModelQuery, globals: Globals): QueryAnswer {
  const depth = Math.min(query.depth ?? 0, MAX_DEPTH);
  const walk = startWalk(query.properties);
  if (query.listServices) {
    return { success: true, instance: describePlace(root(), Math.max(depth, 1), walk, [], membersMade(globals)) };
  }
  const place = locate(query.path, globals);
  if ("success" in place) return place;
  if (!query.find) return { success: true, instance: describePlace(place, depth, walk) };
  const { name, recursive = false } = query.find;
  const found = search(place, name, recursive, globals);
  if (typeof found === "object") return { success: true, instance: describePlace(found, depth, walk) };
  const where = `${recursive ? "anywhere below" : "in"} "${query.path || "globalThis"}"`;
  return notFound(`There is no "${name}" ${where}${found === "unsure" ? ", as far as was searched" : ""}`);
}

// How is a task run in a test? As the command runs it, in this process, with real browsers and the real clock.
import { type BrowseOptions, browse } from "../../../src/browser/browse.ts";
import type { TaskEventType } from "../../../src/browser/report.ts";
import type { TaskResult } from "../../../src/browser/web-agent.ts";
import { createAllows } from "../../../src/core/allowed-domains.ts";
import { localEndpoints, parseEndpoints } from "../../../src/core/endpoints.ts";
import { DEFAULT_LIMITS } from "../../../src/core/web-task.ts";
import { fileBelow, writePrivateBytes } from "../../../src/platform/browse-files.ts";
import { createBrowsers } from "../../../src/platform/browser-process.ts";
import { createSystemWorld } from "../../../src/platform/system.ts";
import { exitCodeOf } from "../../../src/surface/exit-codes.ts";
import { createTempDir } from "../../support/temp-dir.ts";

export interface TaskEvent {
  type: TaskEventType;
  data: Record<string, unknown>;
}

export interface Ran {
  code: number;
  events: TaskEvent[];
  result: TaskResult | undefined;
  thrown: unknown;
  /** Types in order, without those of no interest. */
  types(...left: TaskEventType[]): string[];
  of(type: TaskEventType): Record<string, unknown>[];
  /** Of task:completed. */
  readonly stats: Record<string, unknown>;
}

export interface TaskOptions extends Partial<Omit<BrowseOptions, "endpoints" | "allowedDomains" | "brain">> {
  /** None: a browser of our own. */
  endpoints?: readonly string[];
  allowedDomains?: readonly string[];
  brain: BrowseOptions["brain"];
  onEvent?(event: TaskEvent, count: number): void;
  signal?: AbortSignal;
  directory?: string;
}

export async function runTask(options: TaskOptions): Promise<Ran> {
  using folder = createTempDir();
  const directory = options.directory ?? folder.path;
  const events: TaskEvent[] = [];
  const domains = options.allowedDomains ?? [];
  let thrown: unknown;
  let result: TaskResult | undefined;
  try {
    result = await browse(
      {
        task: "Say hello",
        startUrl: undefined,
        standby: false,
        carry: true,
        limits: DEFAULT_LIMITS,
        timeoutMs: 60_000,
        allows: createAllows(domains),
        secrets: new Map(),
        hidden: [],
        out: undefined,
        stepsFile: () => `${directory}/steps.json`,
        ...options,
        allowedDomains: domains,
        endpoints: options.endpoints ? parseEndpoints(options.endpoints) : localEndpoints(),
      },
      {
        world: createSystemWorld({ info() {}, warn() {} }),
        browsers: createBrowsers(`${directory}/browsers`, process.env),
        writeBytes: writePrivateBytes,
        uploadable: (path) => fileBelow(directory, path),
        tell(type, data) {
          const event = { type, data: structuredClone(data) };
          events.push(event);
          options.onEvent?.(event, events.filter((each) => each.type === type).length);
        },
        signal: options.signal ?? new AbortController().signal,
      },
    );
  } catch (caught) {
    thrown = caught;
  }
  const of = (type: TaskEventType) => events.filter((event) => event.type === type).map(({ data }) => data);
  return {
    code: thrown === undefined ? 0 : exitCodeOf(thrown),
    events,
    result,
    thrown,
    types: (...left) => events.map(({ type }) => type).filter((type) => !left.includes(type)),
    of,
    get stats() {
      return (of("task:completed").at(-1)?.["stats"] ?? {}) as Record<string, unknown>;
    },
  };
}

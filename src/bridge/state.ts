// What do the processes of one user share on disk? The token, and the settings of each port's host.
import { join } from "node:path";
import type { World } from "../platform/world.ts";
import { Fault } from "../protocol/fault.ts";
import { orFault } from "../protocol/file-fault.ts";
import { type Settings, settingsFrom } from "../protocol/settings.ts";

export interface State {
  readonly directory: string;
  /** Created once for all processes of this user. */
  token(): string;
  settingsFile(port: number): string;
  /** What a port's hosts leave to each other; there when this returns. */
  portDirectory(port: number): string;
  /** In a directory that is there when this returns. */
  logFile(port: number): string;
  settings(port: number): Settings | undefined;
  keepSettings(port: number, settings: Settings): void;
  forgetSettings(port: number): void;
}

const TOKEN = /^[0-9a-f]{64}$/;

export function createState(
  { files, secrets, log }: Pick<World, "files" | "secrets" | "log">,
  directory: string,
): State {
  const ports = join(directory, "ports");
  const file = (port: number): string => join(ports, `${port}.json`);
  let token: string | undefined;

  const guarded = <Answer>(work: () => Answer): Answer => {
    try {
      return work();
    } catch (thrown) {
      const says = (why: string) =>
        `The state directory "${directory}" cannot be used: ${why}; make it yours, or choose another with XDG_STATE_HOME`;
      throw orFault(thrown, says);
    }
  };

  const readToken = (): string => {
    files.directory(directory);
    const path = join(directory, "token");
    const text = files.createOnce(path, `${secrets.nonce()}\n`).trim();
    if (!TOKEN.test(text)) {
      throw new Fault("NOT_PERMITTED", `"${path}" holds no token; remove it, and the next command makes a new one`, {
        path,
      });
    }
    return text;
  };

  return {
    directory,
    token() {
      token ??= guarded(readToken);
      return token;
    },
    settingsFile: file,
    portDirectory(port) {
      const made = join(ports, String(port));
      guarded(() => {
        for (const path of [directory, ports, made]) files.directory(path);
      });
      return made;
    },
    logFile(port) {
      const logs = join(directory, "logs");
      guarded(() => {
        for (const path of [directory, logs]) files.directory(path);
      });
      return join(logs, `host-${port}.log`);
    },
    settings(port) {
      const text = guarded(() => files.readPrivate(file(port)));
      if (text === undefined) return undefined;
      try {
        return settingsFrom(JSON.parse(text));
      } catch (thrown) {
        log.warn(`The settings in "${file(port)}" cannot be read; going on with our own`, { why: String(thrown) });
        return undefined;
      }
    },
    keepSettings(port, settings) {
      guarded(() => {
        for (const path of [directory, ports]) files.directory(path);
        files.replace(file(port), `${JSON.stringify(settings)}\n`);
      });
    },
    forgetSettings: (port) => files.remove(file(port)),
  };
}

// Do all processes of one user share one token and one host's settings, on a real disk?
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createState } from "../../src/bridge/state.ts";
import { systemFiles } from "../../src/platform/files.ts";
import { systemSecrets } from "../../src/platform/secrets.ts";
import { Fault } from "../../src/protocol/fault.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { createTempDir } from "../support/temp-dir.ts";

const SOURCE = join(import.meta.dir, "..", "..", "src");
const PROCESSES = 8;
/** One race may pass by luck, two hundred do not. */
const RACES = 200;

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

function stateIn(directory: string) {
  const warnings: string[] = [];
  const log = { info() {}, warn: (message: string) => void warnings.push(message) };
  return { state: createState({ files: systemFiles, secrets: systemSecrets, log }, directory), warnings };
}

const faultOf = (run: () => unknown): Fault => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("Nothing was thrown");
};

describe("the token", () => {
  test("[SC2] eight processes that start at the same instant all get the same token, made once", async () => {
    using temp = createTempDir();
    const directories = Array.from({ length: RACES }, (_, race) => temp.at("state", `${race}`));
    const script = `
      import { createState } from ${JSON.stringify(join(SOURCE, "bridge/state.ts"))};
      import { systemFiles } from ${JSON.stringify(join(SOURCE, "platform/files.ts"))};
      import { systemSecrets } from ${JSON.stringify(join(SOURCE, "platform/secrets.ts"))};
      const log = { info() {}, warn() {} };
      process.stdout.write("ready\\n");
      for await (const _ of console) break;
      const world = { files: systemFiles, secrets: systemSecrets, log };
      const tokens = process.argv.slice(1).map((directory) => createState(world, directory).token());
      process.stdout.write(tokens.join());
    `;
    const children = Array.from({ length: PROCESSES }, () =>
      Bun.spawn([process.execPath, "-e", script, ...directories], { stdin: "pipe", stdout: "pipe", stderr: "inherit" }),
    );
    // All are up and wait for the same word: none is done before the last has begun.
    const outputs = children.map(({ stdout }) => stdout.getReader());
    await Promise.all(outputs.map((output) => output.read()));
    for (const { stdin } of children) {
      stdin.write("go\n");
      stdin.end();
    }
    const tokens = await Promise.all(
      outputs.map(async (output) => {
        let text = "";
        for (let part = await output.read(); !part.done; part = await output.read()) {
          text += new TextDecoder().decode(part.value);
        }
        return text;
      }),
    );
    expect(await Promise.all(children.map(({ exited }) => exited))).toEqual(Array<number>(PROCESSES).fill(0));
    expect(new Set(tokens).size).toBe(1);
    const kept = directories.map((directory) => readFileSync(join(directory, "token"), "utf8").trim());
    expect(tokens[0]).toBe(kept.join());
    for (const token of kept) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(directories.flatMap((directory) => readdirSync(directory)))).toEqual(new Set(["token"]));
  }, 60_000);

  test("[SC3] its directory is made 0700 and its file 0600, whatever the umask", () => {
    using temp = createTempDir();
    const before = process.umask(0);
    try {
      stateIn(temp.at("holdfast")).state.token();
    } finally {
      process.umask(before);
    }
    expect([modeOf(temp.at("holdfast")), modeOf(temp.at("holdfast", "token"))]).toEqual(["700", "600"]);
  });

  test("[SC3] a token that others may read is an error that names the path, and how to mend it", () => {
    using temp = createTempDir();
    const directory = temp.at("holdfast");
    stateIn(directory).state.token();
    for (const mode of [0o640, 0o604, 0o660, 0o700]) {
      chmodSync(join(directory, "token"), mode);
      const fault = faultOf(() => stateIn(directory).state.token());
      expect(fault).toMatchObject({ code: "NOT_PERMITTED", data: { path: join(directory, "token") } });
      expect(fault.message).toContain(`chmod 0600 "${join(directory, "token")}"`);
    }
  });

  test("[SC3] a directory that others may enter is an error that names it", () => {
    using temp = createTempDir();
    const directory = temp.at("holdfast");
    stateIn(directory).state.token();
    chmodSync(directory, 0o750);
    expect(faultOf(() => stateIn(directory).state.token()).message).toContain(`"${directory}" is open to others`);
  });

  test("[SC3] a link in place of the directory or of the token is refused", () => {
    using temp = createTempDir();
    mkdirSync(temp.at("elsewhere"), { mode: 0o700 });
    symlinkSync(temp.at("elsewhere"), temp.at("holdfast"));
    expect(faultOf(() => stateIn(temp.at("holdfast")).state.token()).message).toContain("is a link");

    mkdirSync(temp.at("real"), { mode: 0o700 });
    writeFileSync(temp.at("mine"), "a".repeat(64), { mode: 0o600 });
    symlinkSync(temp.at("mine"), temp.at("real", "token"));
    expect(faultOf(() => stateIn(temp.at("real")).state.token()).message).toContain("is a link");
  });

  test("[SC2] a file that holds no token is an error that says what to do, and does not show what it holds", () => {
    using temp = createTempDir();
    mkdirSync(temp.at("holdfast"), { mode: 0o700 });
    writeFileSync(temp.at("holdfast", "token"), "a secret of another kind", { mode: 0o600 });
    const fault = faultOf(() => stateIn(temp.at("holdfast")).state.token());
    expect(fault.message).toContain("holds no token; remove it");
    expect(fault.message).not.toContain("another kind");
  });
});

describe("the settings of a port", () => {
  test("[HO7] they are kept per port in a 0600 file, replaced as a whole, and forgotten", () => {
    using temp = createTempDir();
    const { state } = stateIn(temp.at("holdfast"));
    expect(state.settings(4_000)).toBeUndefined();
    state.keepSettings(4_000, DEFAULT_SETTINGS);
    state.keepSettings(4_000, { ...DEFAULT_SETTINGS, auth: "none", pluginToken: "secret-token" });
    expect(stateIn(temp.at("holdfast")).state.settings(4_000)).toMatchObject({
      auth: "none",
      pluginToken: "secret-token",
    });
    expect(state.settings(4_001)).toBeUndefined();
    expect([modeOf(temp.at("holdfast", "ports")), modeOf(state.settingsFile(4_000))]).toEqual(["700", "600"]);
    expect(readdirSync(temp.at("holdfast", "ports"))).toEqual(["4000.json"]);
    state.forgetSettings(4_000);
    state.forgetSettings(4_000);
    expect(state.settings(4_000)).toBeUndefined();
  });

  test("[HO7] settings that cannot be read are passed over with a warning that names the file", () => {
    using temp = createTempDir();
    const { state, warnings } = stateIn(temp.at("holdfast"));
    state.keepSettings(4_000, DEFAULT_SETTINGS);
    writeFileSync(state.settingsFile(4_000), '{"auth":"maybe"}', { mode: 0o600 });
    expect(state.settings(4_000)).toBeUndefined();
    expect(warnings.join()).toContain(state.settingsFile(4_000));
  });

  test("[SC3] settings that others may read are an error that names the path", () => {
    using temp = createTempDir();
    const { state } = stateIn(temp.at("holdfast"));
    state.keepSettings(4_000, DEFAULT_SETTINGS);
    chmodSync(state.settingsFile(4_000), 0o644);
    expect(faultOf(() => state.settings(4_000)).message).toContain(`"${state.settingsFile(4_000)}"`);
  });
});

test("[CM8] the log file of a background host lies in a private directory that is there", () => {
  using temp = createTempDir();
  const path = stateIn(temp.at("holdfast")).state.logFile(4_000);
  expect(path).toBe(temp.at("holdfast", "logs", "host-4000.log"));
  expect(modeOf(temp.at("holdfast", "logs"))).toBe("700");
});

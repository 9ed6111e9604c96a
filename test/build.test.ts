// Does `bun test` test what is written? A small project with this build.ts: built when it must be, once, and whole.
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { until } from "./e2e/until.ts";
import { createTempDir, type TempDir } from "./support/temp-dir.ts";

const ROOT = join(import.meta.dir, "..");
const OURS = ["build.ts", "package.json", "bunfig.toml", "test/support/binary.ts", "test/support/patience.ts"];
const TEST = `import { expect, test } from "bun:test";
import { BINARY } from "../support/binary.ts";
test("it says what its source says", async () => {
  await Bun.sleep(10);
  expect(Bun.spawnSync([BINARY]).stdout.toString()).toBe(process.env["SAYS"] + "\\n");
});
`;

interface Project extends TempDir {
  write(path: string, text: string): void;
  start(...words: string[]): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Runs the tests of the project, which want the binary to say this. */
  test(
    says: string,
    words?: string,
    env?: Record<string, string>,
  ): Promise<{ code: number; printed: string; builds: number }>;
}

function createProject(): Project {
  const directory = createTempDir();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(directory.at(path)), { recursive: true });
    writeFileSync(directory.at(path), text);
  };
  for (const path of OURS) write(path, readFileSync(join(ROOT, path), "utf8"));
  write("src/main.ts", 'import { word } from "./word.ts";\nconsole.log(word);\n');
  write("src/word.ts", 'export const word = "one";\n');
  write("src/plugin/sandbox-worker.ts", "export {};\n");
  for (const name of ["a", "b", "c", "d"]) write(`test/e2e/${name}.test.ts`, TEST);
  const start = (env: Record<string, string>, words: readonly string[]) =>
    Bun.spawn([process.execPath, ...words], {
      cwd: directory.path,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    ...directory,
    write,
    start: (...words) => start({}, words),
    async test(says, words = "", env = {}) {
      const run = start({ SAYS: says, ...env }, ["test", ...words.split(" ").filter(Boolean)]);
      const printed = (await Promise.all([run.stdout.text(), run.stderr.text()])).join("");
      return { code: await run.exited, printed, builds: printed.split("Built dist/holdfast").length - 1 };
    },
  };
}

test("bun test builds the binary that it tests where there is none, and when its source changed, and only then", async () => {
  using project = createProject();
  expect(await project.test("one")).toMatchObject({ code: 0, builds: 1 });
  expect(await project.test("one")).toMatchObject({ code: 0, builds: 0 });
  project.write("src/word.ts", 'export const word = "two";\n');
  expect(await project.test("two")).toMatchObject({ code: 0, builds: 1 });
  // A removed file is a change too; what cannot be built is said, and the old binary is not tested instead.
  rmSync(project.at("src/word.ts"));
  const broken = await project.test("two");
  expect(broken.code).not.toBe(0);
  expect(broken.printed).toContain("there is no binary to test");
  expect(broken.printed).toContain("word.ts");
  expect(readdirSync(project.path).sort()).toEqual(["build.ts", "bunfig.toml", "dist", "package.json", "src", "test"]);
});

test("many test files at once, and many runs at once, build one binary", async () => {
  using project = createProject();
  const runs = await Promise.all([
    project.test("one", "--parallel=4"),
    project.test("one", "--parallel=4"),
    project.test("one", "test/e2e/a.test.ts"),
  ]);
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(runs.reduce((sum, { builds }) => sum + builds, 0)).toBe(1);
  expect(readdirSync(project.at("dist")).sort()).toEqual([".lock", "holdfast"]);
});

test("a builder that is killed in the middle leaves no half of a binary, and holds up nobody", async () => {
  using project = createProject();
  const [reached, go] = [project.at("reached"), project.at("go")];
  // A macro runs while its file is being built: the first build comes as far as this, and no farther.
  project.write(
    "src/wait.ts",
    `import { existsSync, writeFileSync } from "node:fs";
export const wait = async (): Promise<string> => {
  writeFileSync("${reached}", "");
  while (!existsSync("${go}")) await Bun.sleep(5);
  return "one";
};
`,
  );
  project.write("src/main.ts", 'import { wait } from "./wait.ts" with { type: "macro" };\nconsole.log(wait());\n');
  const killed = project.start("build.ts");
  await until("a build under way", () => existsSync(reached));
  const waiting = project.test("one", "--parallel=2");
  killed.kill("SIGKILL");
  await killed.exited;
  expect(existsSync(project.at("dist/holdfast"))).toBe(false);
  writeFileSync(go, "");
  expect(await waiting).toMatchObject({ code: 0, builds: 1 });
  expect(readdirSync(project.at("dist")).sort()).toEqual([".lock", "holdfast"]);
});

test("a test that needs no binary does not wait for one, and HOLDFAST_BINARY is tested as it is", async () => {
  using project = createProject();
  project.write(
    "test/unit.test.ts",
    'import { expect, test } from "bun:test";\ntest("sums", () => expect(1 + 1).toBe(2));\n',
  );
  expect(await project.test("", "test/unit.test.ts")).toMatchObject({ code: 0, builds: 0 });
  project.write("other", "#!/bin/sh\necho other\n");
  chmodSync(project.at("other"), 0o755);
  expect(await project.test("other", "test/e2e", { HOLDFAST_BINARY: "./other" })).toMatchObject({ code: 0, builds: 0 });
  const missing = await project.test("other", "test/e2e", { HOLDFAST_BINARY: "./missing" });
  expect(missing.code).not.toBe(0);
  expect(missing.printed).toContain('HOLDFAST_BINARY names "./missing", and there is no such file');
  expect(existsSync(project.at("dist"))).toBe(false);
});

test("a test without a limit of its own may take longer than Bun's five seconds, in every file of a run", async () => {
  using project = createProject();
  const slow = 'import { test } from "bun:test";\ntest("slow", () => Bun.sleep(5_500));\n';
  for (const name of ["one", "two"]) project.write(`test/slow/${name}.test.ts`, slow);
  expect(await project.test("", "test/slow")).toMatchObject({ code: 0 });
});

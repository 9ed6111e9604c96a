// How long may a test take? Loaded before all tests, so that plain `bun test` waits as long as CI does: Bun's own limit
// is 5 s, its bunfig.toml knows no other (1.4), and setDefaultTimeout counts for one file only.
import { readFileSync } from "node:fs";

const LIMIT_MS = 120_000;

Bun.plugin({
  name: "patience",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, ({ path }) => ({
      loader: "ts",
      // On the first line: the lines of the file keep their numbers.
      contents: `import { setDefaultTimeout as wait } from "bun:test"; wait(${LIMIT_MS}); ${readFileSync(path, "utf8")}`,
    }));
  },
});

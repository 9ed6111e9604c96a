// Where may a test write real files? In a directory of its own, gone when the test is.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempDir extends Disposable {
  readonly path: string;
  at(...parts: string[]): string;
}

export function createTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  return {
    path,
    at: (...parts) => join(path, ...parts),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

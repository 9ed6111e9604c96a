// How are the user's own files read and written? Modules of node load when first used: some take 2 ms, and few need them.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const os = () => process.getBuiltinModule("node:os");
const promises = () => process.getBuiltinModule("node:fs/promises");

export const readUserFile = async (path: string): Promise<string> => await promises().readFile(path, "utf8");
export const writeUserFile = async (path: string, bytes: Uint8Array): Promise<void> =>
  await promises().writeFile(path, bytes);

export const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export const makeTemporaryDirectory = (prefix: string): string => mkdtempSync(join(os().tmpdir(), prefix));
export const removeDirectory = (path: string): void => rmSync(path, { recursive: true, force: true });

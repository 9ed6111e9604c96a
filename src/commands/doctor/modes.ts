// Can only you read what holdfast keeps? Too open things of yours can be closed; those of others cannot.
import type { Entry } from "../../platform/checkup.ts";
import { counted, type Finding, ok, problem } from "./finding.ts";

const wantedMode = ({ directory }: Entry): 0o700 | 0o600 => (directory ? 0o700 : 0o600);
const octal = (mode: number): string => mode.toString(8).padStart(4, "0");

/** A link has no mode of its own, and what it leads to is somebody else's affair. */
export const isTooOpen = (entry: Entry): boolean =>
  !entry.link && entry.ours && (entry.mode & ~wantedMode(entry)) !== 0;

export const closedMode = (entry: Entry): number => entry.mode & wantedMode(entry);

const SHOWN = 10;

export function judgeModes(stateDirectory: string, entries: readonly Entry[]): Finding[] {
  if (entries.length === 0) return [ok("files", `Nothing is kept yet in ${stateDirectory}`)];
  const foreign = entries
    .filter(({ link, ours }) => link || !ours)
    .map(({ path }) =>
      problem("files", `"${path}" is a link or belongs to another user`, "move it away and start again"),
    );
  const open = entries
    .filter(isTooOpen)
    .map((entry) =>
      problem(
        "files",
        `"${entry.path}" is open to others (mode ${octal(entry.mode)})`,
        `holdfast doctor --fix, or: chmod ${octal(closedMode(entry))} "${entry.path}"`,
      ),
    );
  const wrong = [...foreign, ...open];
  if (wrong.length === 0) {
    return [ok("files", `Only you can read ${stateDirectory} (${counted(entries.length, "entry", "entries")})`)];
  }
  const more = wrong.length - SHOWN;
  const rest = more > 0 ? [problem("files", `${more} more like these`, "holdfast doctor --fix")] : [];
  return [...wrong.slice(0, SHOWN), ...rest];
}

/** Without it no host starts, and no command finds one. */
export function judgeWritable(stateDirectory: string, isWritable: boolean): Finding[] {
  if (isWritable) return [];
  const hint = "make it yours, or choose another with XDG_STATE_HOME";
  return [problem("files", `"${stateDirectory}" cannot be written: no host can start`, hint)];
}

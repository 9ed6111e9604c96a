// How many columns does a text take on a terminal?

const PLAIN = /^[\x20-\x7e]*$/;
const NOTHING = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Control}]/u;
const EMOJI = /^\p{Emoji_Presentation}|\ufe0f/u;
// East Asian Wide and Fullwidth, in the blocks that people write in.
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

let segmenter: Intl.Segmenter | undefined;
function clusters(text: string): string[] {
  // Made when first needed: it costs milliseconds.
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function clusterWidth(cluster: string): number {
  if (EMOJI.test(cluster) || WIDE.test(cluster)) return 2;
  return NOTHING.test(cluster) ? 0 : 1;
}

export const width = (text: string): number =>
  PLAIN.test(text) ? text.length : clusters(text).reduce((sum, cluster) => sum + clusterWidth(cluster), 0);

/** At most this many columns, with … where something is gone. */
export function clip(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  if (columns <= 0) return "";
  let kept = "";
  let room = columns - 1;
  for (const cluster of clusters(text)) {
    room -= clusterWidth(cluster);
    if (room < 0) break;
    kept += cluster;
  }
  return `${kept}…`;
}

export function pad(text: string, columns: number, right: boolean): string {
  const space = " ".repeat(Math.max(0, columns - width(text)));
  return right ? space + text : text + space;
}

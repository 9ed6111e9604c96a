// holdfast screenshot: a picture of what a plugin shows.
import { Fault } from "../protocol/fault.ts";
import { isText, shape, wholeFrom } from "../protocol/guards.ts";
import { text } from "../surface/argument.ts";
import { pngOfRgba } from "../surface/png.ts";
import { holdfastCommand } from "./context.ts";
import { askAgain, sessionArgs, timeoutArg } from "./plugin-session.ts";

interface Picture {
  data: string;
  format: string;
  width: number;
  height: number;
}

const BASE64 = /^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$/;
const isPicture = shape<Picture>({
  data: (value): value is string => isText(value) && BASE64.test(value),
  format: isText,
  width: wholeFrom(1),
  height: wholeFrom(1),
});

export const screenshot = holdfastCommand({
  name: "screenshot",
  args: {
    out: text("The file to write", { default: "screenshot.png", completes: "file" }),
    ...sessionArgs,
    timeout: timeoutArg("captureScreenshot"),
  },
  short: { s: "session", o: "out" },
  examples: [{ line: "holdfast screenshot --out shot.png", says: "Saves the plugin's view, where it offers one" }],
  details: "The built-in JavaScript plugin has nothing to show and says so.",
  async run(args, context) {
    const { printer } = context;
    const found = await askAgain(context, args, "captureScreenshot", (session, timeoutMs) =>
      session.captureScreenshot({ format: "png" }, { timeoutMs }),
    );
    if (!isPicture(found)) throw new Fault("REFUSED", "The plugin's answer holds no picture");
    const { data, format, width, height } = found;
    const raw = Buffer.from(data, "base64");
    const bytes = format === "rgba" ? pngOfRgba(raw, width, height) : raw;
    if (context.showPicture) {
      context.showPicture(bytes, format === "jpeg" || format === "jpg" ? "image/jpeg" : "image/png");
      printer.json({ width, height, bytes: bytes.length });
      return 0;
    }
    await context.writeFile(args.out, bytes);
    printer.json({ file: args.out, width, height, bytes: bytes.length });
    printer.line(`Wrote ${args.out} (${width} × ${height}, ${bytes.length} bytes)`);
    return 0;
  },
});

// holdfast screenshot: a picture of what a plugin shows.
import { z } from "zod";
import { Fault } from "../protocol/fault.ts";
import { pngOfRgba } from "../surface/png.ts";
import { holdfastCommand } from "./context.ts";
import { askAgain, sessionArgs, timeoutArg } from "./plugin-session.ts";

const Picture = z.looseObject({
  data: z.base64(),
  format: z.string(),
  width: z.number().int().positive(),
  height: z.number().int().positive(),
});

export const screenshot = holdfastCommand({
  name: "screenshot",
  args: z.object({
    out: z.string().default("screenshot.png").describe("The file to write"),
    ...sessionArgs,
    timeout: timeoutArg("captureScreenshot"),
  }),
  short: { s: "session", o: "out" },
  examples: [{ line: "holdfast screenshot --out shot.png", says: "Saves the plugin's view, where it offers one" }],
  details: "The built-in JavaScript plugin has nothing to show and says so.",
  async run(args, context) {
    const { printer } = context;
    const found = await askAgain(context, args, "captureScreenshot", (session, timeoutMs) =>
      session.captureScreenshot({ format: "png" }, { timeoutMs }),
    );
    const picture = Picture.safeParse(found);
    if (!picture.success)
      throw new Fault("REFUSED", "The plugin's answer holds no picture", { issues: picture.error.issues });
    const { data, format, width, height } = picture.data;
    const raw = Buffer.from(data, "base64");
    const bytes = format === "rgba" ? pngOfRgba(raw, width, height) : raw;
    await context.writeFile(args.out, bytes);
    printer.json({ file: args.out, width, height, bytes: bytes.length });
    printer.line(`Wrote ${args.out} (${width} × ${height}, ${bytes.length} bytes)`);
    return 0;
  },
});

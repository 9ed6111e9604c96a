import { z } from "zod";
import { holdfastCommand } from "./context.ts";
export const demo = holdfastCommand({
  name: "demo",
  args: z.object({}),
  examples: [],
  async run() {
    return 1;
  },
});

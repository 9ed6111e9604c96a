// holdfast completions: what teaches a shell to complete.

import { choice } from "../surface/argument.ts";
import { completionScript, SHELLS } from "../surface/completion-scripts.ts";
import { holdfastCommand } from "./context.ts";

export const completions = holdfastCommand({
  name: "completions",
  args: { shell: choice("Your shell", SHELLS) },
  positionals: ["shell"],
  examples: [
    { line: "source <(holdfast completions bash)", says: "Now, or in ~/.bashrc for every shell to come" },
    { line: "holdfast completions zsh", says: "In ~/.zshrc behind compinit: source <(holdfast completions zsh)" },
    { line: "holdfast completions fish", says: "In ~/.config/fish/config.fish: holdfast completions fish | source" },
  ],
  details:
    "Commands, flags and choices come from this binary, and names of agents and sessions from the host that runs; none is started.",
  async run({ shell }, { printer }) {
    const script = completionScript(shell);
    printer.json({ shell, script });
    printer.line(script.trimEnd());
    return 0;
  },
});

// holdfast login: log in to an agent, by the way it offers.
import { isLoginAnswer } from "../protocol/agent-answers.ts";
import { Fault } from "../protocol/fault.ts";
import { duration, text } from "../surface/argument.ts";
import { understood } from "./agent-list.ts";
import { askNotAgain } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";
import { noStartArg } from "./plugin-session.ts";

export const login = holdfastCommand({
  name: "login",
  args: {
    agent: text("The agent, as holdfast agents lists it", { completes: "agent" }),
    method: text("One of the ways it offers (default: its first)", { optional: true }),
    noStart: noStartArg,
    timeout: duration("How long the whole command may take", { default: "5m" }),
  },
  positionals: ["agent"],
  examples: [{ line: "holdfast login demo", says: "The embedded agent needs none, and says so" }],
  details: "Exit code 7 when the login fails.",
  async run(args, context) {
    const { agent, method } = args;
    const { printer } = context;
    const waiting = printer.progress(`Waiting for the login to ${agent}`);
    const request = {
      verb: "login" as const,
      agent,
      env: context.plainEnv,
      ...(method === undefined ? {} : { method }),
    };
    const answer = understood(isLoginAnswer, await askNotAgain(context, args, request).finally(waiting.done));
    if (answer.kind === "terminal") {
      const { command = "", args, env, method: id } = answer;
      const code = await context.runInTerminal([command, ...args], env);
      if (code !== 0) throw new Fault("NOT_PERMITTED", `The login by "${id}" ended with code ${code}`, { agent });
    }
    printer.json({ agent, login: answer.kind });
    printer.line(answer.kind === "none" ? `${agent} needs no login` : `Logged in to ${agent}`);
    return 0;
  },
});

// What is there to read besides the commands? Topics of `holdfast help`.
import { exitCodesHelp } from "./exit-codes.ts";
import { PAGE_COLUMNS, wrap } from "./layout.ts";

export interface Topic {
  says: string;
  text(): string;
}

/** Paragraphs that begin with a dash are wrapped under their first word. */
const page = (title: string, ...paragraphs: readonly string[]): string => {
  const lines = paragraphs.flatMap((paragraph) => {
    const indent = paragraph.startsWith("- ") ? "  " : "";
    return wrap(paragraph, PAGE_COLUMNS - indent.length).map((line, index) => (index === 0 ? line : indent + line));
  });
  return [title, "", ...lines, ""].join("\n");
};

const failover = (): string =>
  page(
    "Failover: who takes over, and what becomes of the work",
    "Whoever holds the port is the host; there is no other lock. Processes that stay (serve --standby, logs --follow, sessions --watch, status --watch) stand in line for it.",
    "",
    "- The host dies: the first in line binds the port at once, the next waits 25 ms, and so on; who finds it taken joins the winner. holdfast status names the line.",
    "- The host is told to leave (holdfast stop, SIGTERM): requests in flight finish within 250 ms, then the port is free before anybody is told.",
    "- Nobody stands in line: plugins look for a host on their own, and the next command starts one in the background, which ends when nobody needs it.",
    "- The host hangs: after three unanswered pings it is said which process holds the port; nobody takes it away.",
    "",
    "- exec and run in flight end with exit code 5: the outcome is unknown, and they are never sent again by themselves. state, query, logs and screenshot are asked again on the next host.",
    "- Agents work on: each is held by a keeper, a small process of its own. The next host adopts it and goes on with its journal, each line once. holdfast doctor names keepers without a host.",
    "- The agent dies: its clients are told at once (exit code 5), it is started again, and its sessions are restored where it can do that.",
    "- attach and prompt follow their session by number across hosts: each record is shown once, in order.",
  );

const security = (): string =>
  page(
    "Security: what is kept from whom",
    "Everything listens on loopback only. Loopback is no wall: web pages, other users of the machine and containers with host networking reach it too.",
    "",
    "- Web pages: any request with an Origin is refused, and so is a Host that is no loopback name (DNS rebinding).",
    "- Other users: a token of 32 random bytes lies in the state directory (0600) and never crosses the wire. Host and client each prove that they know it, the host first; who takes the port without it learns nothing.",
    "- serve --auth none switches that off for foreign clients, and says so. serve --plugin-token asks plugins for a token too; give it by HOLDFAST_PLUGIN_TOKEN, where ps does not show it.",
    "- Files: directories 0700, files 0600; looser ones are an error, exit code 7. holdfast doctor names them, holdfast doctor --fix closes them.",
    "- Agents: only built-in commands and those of your config file run. An agent gets the variables its definition lists, never your whole environment.",
    "- Permissions: asked on a terminal, denied without one, unless --permissions says otherwise.",
    "- Terminals: what agents and plugins say is stripped of control sequences on a terminal, and left as it is in a pipe.",
    "- plugin js runs code with your rights: it is no sandbox against you.",
    "",
    "Secrets are in no log, no event, no status, no error and no process arguments.",
  );

/** `config` is a topic too: it is a command, whose help has it all. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  "exit-codes": { says: "What each exit code means", text: exitCodesHelp },
  failover: { says: "Who takes over, and what becomes of the work", text: failover },
  security: { says: "What is kept from whom", text: security },
};

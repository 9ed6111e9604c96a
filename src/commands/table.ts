// Which commands are there? Summaries here, the rest behind `load`: `--help` must start at once.
import type { TableEntry } from "../surface/overview.ts";
import type { HoldfastCommand } from "./context.ts";

type Entry = TableEntry<() => Promise<HoldfastCommand>>;

const HOST = "The bridge";
const PLUGINS = "Plugin sessions";
const AGENTS = "Agents";
const WEB = "The web";
const ABOUT = "About";

export const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: {
    group: HOST,
    summary: "Host in the foreground; with --standby wait in line while another hosts",
    load: async () => (await import("./serve.ts")).serve,
  },
  status: {
    group: HOST,
    summary: "Host, plugins, agents and keepers, and why each session is kept",
    load: async () => (await import("./status.ts")).status,
  },
  stop: {
    group: HOST,
    summary: "End the host and idle agents; --agents ends working ones too",
    load: async () => (await import("./stop.ts")).stop,
  },
  demo: {
    group: HOST,
    summary: "Kill hosts, a keeper, an agent and a browser under work; lose nothing",
    load: async () => (await import("./demo.ts")).demo,
  },
  sessions: {
    group: PLUGINS,
    summary: "List plugin and agent sessions",
    load: async () => (await import("./sessions.ts")).sessions,
    tool: { readOnly: true, without: ["watch"] },
  },
  exec: {
    group: PLUGINS,
    summary: "Execute code in a plugin session",
    load: async () => (await import("./exec.ts")).exec,
    tool: {},
  },
  run: {
    group: PLUGINS,
    summary: "Execute a file in a plugin session",
    load: async () => (await import("./run.ts")).run,
    tool: {},
  },
  state: {
    group: PLUGINS,
    summary: "What a plugin is doing",
    load: async () => (await import("./state.ts")).state,
    tool: { readOnly: true },
  },
  screenshot: {
    group: PLUGINS,
    summary: "Save a picture of what a plugin shows",
    load: async () => (await import("./screenshot.ts")).screenshot,
    tool: { readOnly: true, without: ["out"] },
  },
  query: {
    group: PLUGINS,
    summary: "Read a plugin's objects",
    load: async () => (await import("./query.ts")).query,
    tool: { readOnly: true },
  },
  logs: {
    group: PLUGINS,
    summary: "A plugin's log, with --follow as it grows",
    load: async () => (await import("./logs.ts")).logs,
    tool: { readOnly: true, without: ["follow"] },
  },
  plugin: {
    group: PLUGINS,
    summary: "Be a plugin: a JavaScript session that reconnects by itself",
    load: async () => (await import("./plugin.ts")).plugin,
  },
  agents: {
    group: AGENTS,
    summary: "Known agents: installed or not, running or not",
    load: async () => (await import("./agents.ts")).agents,
    tool: { readOnly: true },
  },
  login: {
    group: AGENTS,
    summary: "Log in to an agent, by the way it offers",
    load: async () => (await import("./login.ts")).login,
  },
  prompt: {
    group: AGENTS,
    summary: "Send a prompt to an agent and stream its answer",
    load: async () => (await import("./prompt.ts")).prompt,
    tool: { needs: ["text"], asText: true },
  },
  attach: {
    group: AGENTS,
    summary: "Follow an agent session, from any event on",
    load: async () => (await import("./attach.ts")).attach,
  },
  read: {
    group: AGENTS,
    summary: "Read some events of an agent session, and leave",
    load: async () => (await import("./read.ts")).read,
    tool: { readOnly: true },
  },
  acp: {
    group: AGENTS,
    summary: "Be an ACP agent on stdio, for editors",
    load: async () => (await import("./acp.ts")).acp,
  },
  cancel: {
    group: AGENTS,
    summary: "End the turn that runs in a session",
    load: async () => (await import("./cancel.ts")).cancel,
    tool: {},
  },
  keep: {
    group: AGENTS,
    summary: "Keep a session although nobody watches it",
    load: async () => (await import("./keep.ts")).keep,
  },
  close: {
    group: AGENTS,
    summary: "End a session; its name finds it again",
    load: async () => (await import("./close.ts")).close,
  },
  prune: {
    group: AGENTS,
    summary: "Remove journals of sessions that nobody uses any more",
    load: async () => (await import("./prune.ts")).prune,
  },
  reconnect: {
    group: AGENTS,
    summary: "Start an agent again",
    load: async () => (await import("./reconnect.ts")).reconnect,
  },
  browse: {
    group: WEB,
    summary: "Run a web task that survives the death of its browser",
    load: async () => (await import("./browse.ts")).browse,
    tool: { without: ["schema", "check"] },
  },
  mcp: {
    group: AGENTS,
    summary: "Be an MCP server on stdio, with these commands as tools",
    load: async () => (await import("./mcp.ts")).mcp,
  },
  doctor: {
    group: ABOUT,
    summary: "Check everything, and say what to do; with --fix do what is safe",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  config: {
    group: ABOUT,
    summary: "Every setting, its value, and where that comes from",
    load: async () => (await import("./config.ts")).config,
  },
  completions: {
    group: ABOUT,
    summary: "What teaches your shell to complete: bash, zsh or fish",
    load: async () => (await import("./completions.ts")).completions,
  },
  help: {
    group: ABOUT,
    summary: "Help for a command, or a topic such as exit-codes",
    load: async () => (await import("./help.ts")).help,
  },
  version: {
    group: ABOUT,
    summary: "The version",
    load: async () => (await import("./version.ts")).version,
  },
  "demo-agent": {
    hidden: true,
    summary: "The embedded agent on stdio",
    load: async () => (await import("./demo-agent.ts")).demoAgent,
  },
  complete: {
    hidden: true,
    summary: "What could come next on the line; asked by shells",
    load: async () => (await import("./complete.ts")).complete,
  },
  "background-host": {
    hidden: true,
    summary: "A host that a command started; ends by itself when idle",
    load: async () => (await import("./background-host.ts")).backgroundHost,
  },
};

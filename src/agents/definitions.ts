// Which agents are there, and what does each need? Only these commands ever run, never one from the wire.

import type { AgentConfig } from "../protocol/config.ts";

export interface AgentDefinition {
  name: string;
  displayName: string;
  /** The first one found on PATH is used. */
  commands: readonly { command: string; args: readonly string[] }[];
  /** Variables it gets from whoever causes its start; `X_*` stands for all that begin so. */
  environment: readonly string[];
  /** Set for it, whatever anybody's environment says. */
  env: Readonly<Record<string, string>>;
  install: string;
  /** Longer prompts it refuses. */
  maxPromptCharacters?: number;
  /** It loses a session that is loaded in the UTC minute in which it was made or loaded last. */
  loadsOncePerMinute?: boolean;
  /** What every session of it gets, as ACP has it. */
  mcpServers?: readonly McpServer[];
}

export type McpServer = Readonly<Record<string, unknown>>;

const COMMON = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TMPDIR", "XDG_*", "TERM", "TZ"];
const PROXIES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
];
const CERTIFICATES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

const builtIn = (definition: Omit<AgentDefinition, "env">): AgentDefinition => ({
  ...definition,
  environment: [...COMMON, ...PROXIES, ...CERTIFICATES, ...definition.environment],
  env: {},
});

export const BUILT_IN: readonly AgentDefinition[] = [
  builtIn({
    name: "claude-code",
    displayName: "Claude Code",
    commands: [
      { command: "claude-code-acp", args: [] },
      { command: "claude-agent-acp", args: [] },
    ],
    environment: [
      "ANTHROPIC_*",
      "CLAUDE_*",
      "AWS_*",
      "GOOGLE_*",
      "CLOUD_ML_REGION",
      "DISABLE_TELEMETRY",
      "MAX_THINKING_TOKENS",
    ],
    install: "npm install -g @agentclientprotocol/claude-agent-acp",
  }),
  builtIn({
    name: "codex",
    displayName: "Codex",
    commands: [{ command: "codex-acp", args: [] }],
    environment: ["OPENAI_*", "CODEX_*", "AZURE_*"],
    install: "npm install -g @agentclientprotocol/codex-acp",
    maxPromptCharacters: 1_048_576,
  }),
  builtIn({
    name: "gemini",
    displayName: "Gemini",
    commands: [{ command: "gemini", args: ["--acp"] }],
    environment: ["GEMINI_*", "GOOGLE_*"],
    install: "npm install -g @google/gemini-cli",
    loadsOncePerMinute: true,
  }),
  builtIn({
    name: "opencode",
    displayName: "opencode",
    commands: [{ command: "opencode", args: ["acp"] }],
    environment: ["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*"],
    install: "npm install -g opencode-ai",
  }),
];

export type ServerOf = (server: AgentConfig["mcpServers"][number]) => McpServer;

/** What config says of an agent: a new one, or more about one that is known. */
function configured(name: string, config: AgentConfig, known: AgentDefinition | undefined, serverOf: ServerOf) {
  const { command, args, displayName, install } = config;
  const own: AgentDefinition | undefined =
    command === undefined
      ? known
      : {
          name,
          displayName: name,
          commands: [{ command, args }],
          environment: [...COMMON, ...PROXIES, ...CERTIFICATES],
          env: {},
          install: `put "${command}" on your PATH`,
        };
  if (!own) throw new Error(`Nothing is known of the agent "${name}"`);
  return {
    ...own,
    environment: [...own.environment, ...config.environment],
    env: { ...own.env, ...config.env },
    ...(displayName === undefined ? {} : { displayName }),
    ...(install === undefined ? {} : { install }),
    mcpServers: config.mcpServers.map(serverOf),
  };
}

/** Those of the config last: they may replace a built-in of the same name. */
export const allDefinitions = (
  config: Readonly<Record<string, AgentConfig>>,
  more: readonly AgentDefinition[],
  serverOf: ServerOf = (server) => (typeof server === "string" ? { name: server } : server),
): AgentDefinition[] => {
  const known = [...BUILT_IN, ...more];
  const own = Object.entries(config).map(([name, each]) =>
    configured(
      name,
      each,
      known.find((one) => one.name === name),
      serverOf,
    ),
  );
  const names = new Set(own.map(({ name }) => name));
  return [...known.filter(({ name }) => !names.has(name)), ...own];
};

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

export function environmentFor(
  definition: AgentDefinition,
  from: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const wanted = Object.entries(from).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && definition.environment.some((pattern) => matches(pattern, entry[0])),
  );
  return { ...Object.fromEntries(wanted), ...definition.env };
}

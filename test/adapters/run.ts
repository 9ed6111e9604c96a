// Do real adapters work with the built binary? Installed from npm into a scratch folder, with an offline model; opt-in.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startToolModel } from "./tool-model.ts";

const ROOT = join(import.meta.dir, "../..");
const BINARY = process.env["HOLDFAST_BINARY"] ?? join(ROOT, "dist/holdfast");
const MODEL = join(ROOT, "../shared/tools/fake-llm.mjs");
const ADAPTERS = [
  { agent: "claude-code", name: "@zed-industries/claude-code-acp", version: "0.16.2" },
  { agent: "codex", name: "@zed-industries/codex-acp", version: "0.16.0" },
] as const;
const MODEL_PORT = 8_300 + (process.pid % 500);
const TOOL_PORT = MODEL_PORT + 500;
const PORT = 39_000 + (process.pid % 500);
const TURN_MS = 120_000;
const PIECES = 150;

const scratch = mkdtempSync(join(tmpdir(), "holdfast-adapters-"));
const home = join(scratch, "home");
const work = join(scratch, "work");
const { IS_SANDBOX: _, ...outside } = process.env;
const env = {
  ...outside,
  HOME: home,
  XDG_STATE_HOME: join(scratch, "state"),
  HOLDFAST_PORT: String(PORT),
  PATH: `${join(scratch, "node_modules/.bin")}:${process.env["PATH"]}`,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${MODEL_PORT}`,
  ANTHROPIC_API_KEY: "sk-ant-dummy",
  DISABLE_TELEMETRY: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  OPENAI_API_KEY: "sk-dummy",
  CODEX_API_KEY: "sk-dummy",
};

interface Ran {
  code: number;
  out: string;
  events: { type: string; data: Record<string, unknown> }[];
}

const results: { what: string; ok: boolean; note: string }[] = [];
const check = (what: string, ok: boolean, note = ""): void => {
  results.push({ what, ok, note });
  console.log(`${ok ? "ok  " : "FAIL"} ${what}${note ? `: ${note}` : ""}`);
};

/** `seen` may act while it runs: it is told each event. */
async function run(
  words: readonly string[],
  seen: (type: string, count: number, pid: number) => void = () => {},
): Promise<Ran> {
  const child = Bun.spawn([BINARY, ...words], { cwd: work, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), TURN_MS);
  const errors = new Response(child.stderr).text();
  const events: Ran["events"] = [];
  const counts = new Map<string, number>();
  const decoder = new TextDecoder();
  let out = "";
  let rest = "";
  for await (const bytes of child.stdout) {
    const text = decoder.decode(bytes, { stream: true });
    out += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith('{"seq"')) continue;
      const event = JSON.parse(line);
      events.push(event);
      const count = (counts.get(event.type) ?? 0) + 1;
      counts.set(event.type, count);
      seen(event.type, count, child.pid);
    }
  }
  const code = await child.exited;
  clearTimeout(timer);
  return { code, out: out + (await errors), events };
}

const textOf = ({ events }: Ran): string =>
  events
    .map(({ data }) => data["update"] as { sessionUpdate?: string; content?: { text?: string } } | undefined)
    .map((update) => (update?.sessionUpdate === "agent_message_chunk" ? (update.content?.text ?? "") : ""))
    .join("");

interface Pids {
  host: number;
  agent: number;
  keeper: number;
}

async function pidsOf(agent: string): Promise<Pids> {
  const { out } = await run(["status", "--json"]);
  const status = JSON.parse(out.slice(0, out.lastIndexOf("}") + 1)) as {
    pid: number;
    agents: { name: string; pid: number; keeper: number }[];
  };
  const { pid = 0, keeper = 0 } = status.agents.find(({ name }) => name === agent) ?? {};
  return { host: status.pid, agent: pid, keeper };
}

/** Each piece once, in order. (The model may take a cancelled turn's text for this one's, and say more.) */
const isWhole = (ran: Ran, pieces: number): boolean => {
  const numbers = [...textOf(ran).matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
  return numbers.length >= pieces && numbers.every((number, at) => number === at + 1);
};

async function adapter({ agent, name, version }: (typeof ADAPTERS)[number]): Promise<void> {
  const is = (what: string) => `${name} ${version}: ${what}`;
  const prompt = (text: string, ...more: string[]) => ["prompt", agent, text, "--session", agent, "--json", ...more];
  const first = await run(prompt("hello SECRET=kept"));
  check(is("a full turn"), first.code === 0 && textOf(first).includes("secret=kept"), textOf(first).slice(0, 60));
  const second = await run(prompt("again"));
  check(is("the next turn knows the last"), second.code === 0 && textOf(second).includes("secret=kept"));
  const asked = await run(prompt("please TOOL", "--permissions", "allow"));
  const permitted = asked.events.some(({ type, data }) => type === "permission-resolved" && data["by"] === "policy");
  const ran = readdirSync(work).includes("tool-ran");
  check(is("a tool call with permission"), asked.code === 0 && permitted && ran);
  rmSync(join(work, "tool-ran"), { force: true });
  const cancelled = await run(prompt("SLOW 2000 20"), (type, count, pid) => {
    if (type === "update" && count === 20) process.kill(pid, "SIGINT");
  });
  check(
    is("Ctrl-C cancels the turn"),
    cancelled.code === 130 && cancelled.events.at(-1)?.data["stopReason"] === "cancelled",
  );
  for (const who of ["host", "keeper"] as const) {
    const pids = await pidsOf(agent);
    const alone = await run(prompt(`SLOW ${PIECES} 20`), (type, count) => {
      if (type === "update" && count === 20) process.kill(pids[who], "SIGKILL");
    });
    const after = await run(prompt("and then"));
    check(
      is(`kill -9 of the ${who} in mid-turn: the turn is whole, the context kept`),
      alone.code === 0 && isWhole(alone, PIECES - 1) && after.code === 0 && textOf(after).includes("secret=kept"),
      `${who} ${pids[who]}, exit ${alone.code} and ${after.code}, ${textOf(alone).match(/\[\d+\]/g)?.length} pieces`,
    );
  }
  const { agent: pid } = await pidsOf(agent);
  const killed = await run(prompt("SLOW 2000 20"), (type, count) => {
    if (type === "update" && count === 20) process.kill(-pid, "SIGKILL");
  });
  check(is("kill -9 in mid-turn is told, exit 5"), killed.code === 5, `agent ${pid}`);
  const restored = await run(prompt("and now"));
  const how = restored.events.find(({ type }) => type === "restored")?.data["how"] ?? "before the prompt";
  check(is("restored with its context"), restored.code === 0 && textOf(restored).includes("secret=kept"), `by ${how}`);
}

function leftovers(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`XDG_STATE_HOME=${env.XDG_STATE_HOME}`);
    } catch {
      return false;
    }
  });
}

async function main(): Promise<number> {
  mkdirSync(join(home, ".codex"), { recursive: true });
  mkdirSync(work);
  writeFileSync(
    join(home, ".codex/config.toml"),
    `model_provider = "fake"\nmodel = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = "http://127.0.0.1:${TOOL_PORT}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`,
  );
  writeFileSync(join(scratch, "package.json"), '{"private":true}');
  console.log("Installing the adapters …");
  const packages = ADAPTERS.map(({ name, version }) => `${name}@${version}`);
  const installed = Bun.spawnSync(["npm", "install", "--no-audit", "--no-fund", "--silent", ...packages], {
    cwd: scratch,
  });
  if (installed.exitCode !== 0) throw new Error(installed.stderr.toString());
  const model = Bun.spawn(["node", MODEL, String(MODEL_PORT)], { stdout: "pipe", stderr: "ignore" });
  await model.stdout.getReader().read();
  const tools = startToolModel(TOOL_PORT, `http://127.0.0.1:${MODEL_PORT}`);
  try {
    for (const each of ADAPTERS) await adapter(each);
    const stopped = await run(["stop"]);
    check(
      "no process is left after stop: the agents are idle",
      stopped.code === 0 && leftovers().length === 0,
      leftovers().join(" "),
    );
  } finally {
    await run(["stop", "--agents"]);
    tools.end();
    model.kill();
    rmSync(scratch, { recursive: true, force: true });
  }
  const failed = results.filter(({ ok }) => !ok).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  return failed;
}

process.exitCode = (await main()) === 0 ? 0 : 1;

// Is only a host believed that proves itself, and is everything else on the port told apart?
import { describe, expect, test } from "bun:test";
import { type HostLink, type JoinOutcome, join } from "../../src/bridge/join.ts";
import type { Attach } from "../../src/platform/world.ts";
import type { HostMessage } from "../../src/protocol/host-messages.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/version.ts";
import { createHostProver } from "../../src/rpc/prover.ts";
import { type Opened, open, opening, openLine, PORT, stateOf } from "../support/bridges.ts";
import { createFakeFiles } from "../support/fake-files.ts";
import { createMachine, type Machine, type MachineOptions } from "../support/fake-world.ts";
import { squat } from "../support/squatter.ts";

function setUp(options?: MachineOptions) {
  const machine = createMachine(options);
  const process = machine.process();
  const token = stateOf(process).token();
  const messages: HostMessage[] = [];
  const losses: { hung: boolean }[] = [];
  const go = () =>
    join(
      process.world,
      { port: PORT, token, standing: true },
      { message: (message) => void messages.push(message), closed: (why) => void losses.push(why) },
    );
  return { machine, process, token, messages, losses, go };
}

/** A host of one's own making: answers each frame with what is given, and remembers what it heard. */
function impostor(machine: Machine, answer: (frame: Record<string, unknown>) => Record<string, unknown> | undefined) {
  const heard: Record<string, unknown>[] = [];
  const attach: Attach = (socket) => ({
    message(text) {
      const frame = JSON.parse(text) as Record<string, unknown>;
      heard.push(frame);
      const said = answer(frame);
      if (said) socket.send(JSON.stringify(said));
    },
    pong() {},
    closed() {},
  });
  const { net } = machine.process().world;
  const limits = { frameBytes: 1, waitingBytes: 1 };
  net.bind({ address: "127.0.0.1", port: PORT, ...limits, answer: () => ({ kind: "upgrade", attach }) });
  return heard;
}

const hello = (machine: Machine, token: string, nonce: unknown, protocolVersion: number) => ({
  type: "host-hello",
  ...createHostProver(machine.process().world, token).answer(String(nonce)),
  version: "9.9.9",
  protocolVersion,
  pid: 77,
});

const linkOf = (outcome: JoinOutcome): HostLink => {
  if (outcome.kind !== "joined") throw new Error(`Not joined but ${outcome.kind}`);
  return outcome.link;
};

describe("a host of ours", () => {
  test("[SC2] it proves itself, takes our proof, and answers what is asked from then on", () => {
    const { machine, go, messages } = setUp();
    const host = open(machine);
    const link = linkOf(machine.wait(go()));
    expect(link).toMatchObject({ role: "client", port: PORT, hostPid: host.process.pid });
    link.send({ type: "list-sessions", requestId: "r1" });
    machine.advance(5);
    expect(messages).toContainEqual({ type: "list-sessions-response", requestId: "r1", sessions: [] });
    expect(messages).toContainEqual({ type: "succession", rank: 0 });
  });

  test("[CL4] host-ready is sent after a takeover, and only then", () => {
    const { machine, go, messages } = setUp();
    const [host, heir] = openLine(machine, 1) as [Opened, Opened];
    const link = linkOf(machine.wait(go()));
    machine.advance(5);
    expect(messages).toContainEqual({ type: "succession", rank: 1 });
    expect(messages).not.toContainEqual({ type: "host-ready" });
    link.end();
    host.process.kill();
    machine.until(() => heir.bridge.role === "host");
    linkOf(machine.wait(go()));
    machine.advance(5);
    expect(messages).toContainEqual({ type: "host-ready" });
  });

  test("[TK2] its crash is told once; who leaves of its own accord is told nothing", () => {
    const { machine, go, losses } = setUp();
    const host = open(machine);
    linkOf(machine.wait(go()));
    linkOf(machine.wait(go())).end();
    machine.advance(5);
    expect(losses).toEqual([]);
    host.process.kill();
    machine.advance(60_000);
    expect(losses).toEqual([{ hung: false }]);
  });

  test("[TK10] a host that hangs is told as hung after 15 s, though its socket stays open", () => {
    const { machine, go, losses } = setUp();
    const host = open(machine);
    linkOf(machine.wait(go()));
    const start = machine.now;
    host.process.freeze();
    machine.until(() => losses.length > 0);
    expect(losses).toEqual([{ hung: true }]);
    expect(machine.now - start).toBeWithin(14_990, 15_001);
  });
});

describe("anybody else", () => {
  test("[SC2] one who cannot prove itself hears a nonce from us and nothing more", () => {
    const { machine, go, token } = setUp();
    const heard = impostor(machine, ({ nonce }) => hello(machine, "f".repeat(64), nonce, PROTOCOL_VERSION));
    expect(machine.wait(go())).toMatchObject({ kind: "foreign", why: expect.stringContaining("could not prove") });
    machine.advance(1_000);
    expect(heard).toEqual([{ type: "client-challenge", nonce: expect.any(String) }]);
    expect(JSON.stringify(heard)).not.toContain(token);
  });

  test("[SC2] one that only mirrors what we say is not believed", () => {
    const { machine, go } = setUp();
    const heard = impostor(machine, (frame) => ({ ...frame, type: "host-hello", proof: frame["nonce"], version: "1" }));
    expect(machine.wait(go()).kind).toBe("foreign");
    expect(heard).toHaveLength(1);
  });

  test("[HO5] another user's holdfast is foreign, to us and to it", () => {
    const { machine, go } = setUp();
    open(machine, { process: machine.process({ files: createFakeFiles() }) });
    expect(machine.wait(go()).kind).toBe("foreign");
  });

  test("[HO5] a program that knows no /client is foreign, with what it answered", () => {
    const { machine, go } = setUp();
    squat(machine, "web-server");
    expect(machine.wait(go())).toEqual({ kind: "foreign", why: "it answers 404 to a holdfast client" });
  });

  test("[TK4] a host that takes the connection and says nothing is given 2 s in all", () => {
    const { machine, go } = setUp({ connectMs: () => 1_500 });
    squat(machine, "mute");
    const start = machine.now;
    expect(machine.wait(go())).toEqual({ kind: "silent" });
    expect(machine.now - start).toBeWithin(1_999, 2_001);
  });

  test("[TK4] a stopped process takes the connection and is silent, too", () => {
    const { machine, go } = setUp();
    const host = open(machine);
    host.process.freeze();
    expect(machine.wait(go())).toEqual({ kind: "silent" });
  });

  test("[TK4] a 503 means closing, unless its health is well: then it is full", () => {
    const { machine, go } = setUp();
    const squatter = squat(machine, "closing");
    expect(machine.wait(go())).toEqual({ kind: "closing" });
    squatter?.kill();
    open(machine, { own: { limits: { ...DEFAULT_SETTINGS.limits, clients: 1 } } });
    linkOf(machine.wait(go()));
    machine.advance(5);
    expect(machine.wait(go())).toEqual({ kind: "full" });
  });

  test("[TK4] a host that came up between a 503 and the look at its health is the next one, not full", () => {
    const { machine, process, go } = setUp();
    const squatter = squat(machine, "closing");
    machine.advance(60_000);
    const { net } = process.world;
    const { probe } = net;
    net.probe = async (port, timeoutMs) => {
      squatter?.kill();
      await opening(machine);
      return await probe(port, timeoutMs);
    };
    expect(machine.wait(go())).toEqual({ kind: "closing" });
  });

  test("[TK9] nobody there is refused, a host that dies while greeting is broken", () => {
    const { machine, go } = setUp();
    expect(machine.wait(go())).toEqual({ kind: "refused" });
    const squatter = squat(machine, "mute");
    machine.plan(100, () => squatter?.kill());
    expect(machine.wait(go())).toEqual({ kind: "broken" });
  });
});

describe("versions", () => {
  test("[CL5] a host with an older wire is told as such, with what to do, and hears nothing of ours", () => {
    const { machine, go, token } = setUp();
    const heard = impostor(machine, ({ nonce }) => hello(machine, token, nonce, PROTOCOL_VERSION - 1));
    const outcome = machine.wait(go());
    expect(outcome).toMatchObject({ kind: "skew", why: expect.stringContaining("holdfast stop") });
    expect(heard).toHaveLength(1);
  });

  test("[CL5] with a newer host we speak our own version", () => {
    const { machine, go, token } = setUp();
    const heard = impostor(machine, ({ type, nonce }) =>
      type === "client-challenge" ? hello(machine, token, nonce, PROTOCOL_VERSION + 1) : undefined,
    );
    linkOf(machine.wait(go()));
    machine.advance(5);
    expect(heard[1]).toMatchObject({ type: "client-hello", protocolVersion: PROTOCOL_VERSION, standing: true });
  });
});

// Is whoever holds the port told by name, and a stranger never taken for a host?
import { expect, test } from "bun:test";
import { claimedVersion, judgePort } from "../../../src/commands/doctor/port.ts";
import { Fault, type FaultCode } from "../../../src/protocol/fault.ts";
import type { HostStatus } from "../../../src/protocol/host-messages.ts";
import { VERSION } from "../../../src/protocol/version.ts";

const answer = (body: unknown, status = 200) => ({
  kind: "answer" as const,
  status,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

test("only a host's own answer makes one", () => {
  expect(claimedVersion(answer({ status: "ok", serverVersion: "9" }))).toBe("9");
  for (const odd of ["", "hello", "null", "[]", '{"status":"ok"}', '{"status":"no","serverVersion":"9"}']) {
    expect(claimedVersion(answer(odd))).toBeUndefined();
  }
  expect(claimedVersion(answer({ status: "ok", serverVersion: "9" }, 404))).toBeUndefined();
  expect(claimedVersion({ kind: "silent" })).toBeUndefined();
});

const host = (more: Partial<HostStatus> = {}): HostStatus =>
  ({ pid: 5, port: 7, version: VERSION, background: true, auth: "token", logFile: "/s/h.log", ...more }) as HostStatus;
const owner = { pid: 99, command: "nc" };

test("[CM8] a host is told with its pid, its version and where it logs", () => {
  const [found, ...more] = judgePort(7, { kind: "host", status: host(), runsAgents: true }, owner);
  expect(more).toEqual([]);
  expect(found).toMatchObject({ level: "ok", hint: null });
  expect(found?.text).toBe(`Port 7 is held by host 5, holdfast ${VERSION}, in the background; it logs to /s/h.log`);
});

test("another version and --auth none are warnings beside it", () => {
  const found = judgePort(
    7,
    { kind: "host", status: host({ version: "0.0.1", auth: "none" }), runsAgents: true },
    owner,
  );
  expect(found.map(({ level }) => level)).toEqual(["ok", "warning", "warning"]);
  expect(found[1]?.text).toBe(`Host 5 is holdfast 0.0.1, and this is ${VERSION}`);
  expect(found[2]?.text).toContain("--auth none");
});

test("[LB1] a host that runs no agents is a warning with what to do", () => {
  const found = judgePort(7, { kind: "host", status: host(), runsAgents: false }, owner);
  expect(found.map(({ level }) => level)).toEqual(["ok", "warning"]);
  expect(found[1]?.text).toContain("runs no agents");
  expect(found[1]?.hint).toContain("end process 5");
});

test("a stranger is a problem, by pid and name where the system tells, with what to do", () => {
  const [named] = judgePort(7, { kind: "stranger", silent: false }, owner);
  expect(named).toMatchObject({
    level: "problem",
    text: "Port 7 is held by process 99 (nc), which is no holdfast host",
  });
  expect(named?.hint).toContain("--port");
  const [silent] = judgePort(7, { kind: "stranger", silent: true }, undefined);
  expect(silent?.text).toBe("Port 7 is held by a process that the system does not name, which does not answer");
});

test("who only claims to be a host is a problem", () => {
  const why = new Fault("PORT_HELD", "it cannot prove itself");
  const [found] = judgePort(7, { kind: "claims", version: "9", why }, owner);
  expect(found).toMatchObject({ level: "problem", text: "Port 7 is held by process 99 (nc): it cannot prove itself" });
});

test("what stands between us and a host of ours has a remedy of its own", () => {
  const hint = (code: FaultCode) =>
    judgePort(7, { kind: "claims", version: "9", why: new Fault(code, "why") }, owner)[0]?.hint;
  expect(hint("PORT_HELD")).toContain("another port");
  expect(hint("HOST_FULL")).toContain("MAX_CLIENTS");
  expect(hint("NOT_PERMITTED")).toContain("--fix");
});

test("a free port is fine", () => {
  expect(judgePort(7, { kind: "nobody" }, undefined)).toMatchObject([{ level: "ok" }]);
});

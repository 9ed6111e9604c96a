// Is the session found that the caller means, and nothing guessed where several could be meant?
import { expect, test } from "bun:test";
import { groupByInstance, resolve } from "../../src/core/resolve.ts";
import type { SessionInfo } from "../../src/protocol/host-messages.ts";
import type { Context } from "../../src/protocol/plugin.ts";

const session = (sessionId: string, instanceId: string, context: Context): SessionInfo => ({
  sessionId,
  instanceId,
  context,
  placeName: `Place of ${instanceId}`,
  placeId: 1,
  gameId: 2,
  state: "Edit",
  pluginVersion: "1.0.0",
  capabilities: [],
  connectedAt: "2030-01-01T00:00:00.000Z",
  origin: "user",
});

const edit = session("s-edit", "one", "edit");
const server = session("s-server", "one", "server");
const client = session("s-client", "one", "client");
const other = session("s-other", "two", "edit");

test("[LB2] an exact session id wins over everything else that was said", () => {
  expect(resolve([edit, other], { session: "s-other", instance: "one", context: "server" })).toEqual({
    kind: "found",
    session: other,
  });
  expect(resolve([edit], { session: "gone" })).toMatchObject({
    kind: "none",
    message: expect.stringMatching(/no session "gone"/),
  });
});

test("[LB2] else the instance, then the context", () => {
  expect(resolve([edit, server, other], { instance: "one", context: "server" })).toEqual({
    kind: "found",
    session: server,
  });
  expect(resolve([edit, other], { instance: "two" })).toEqual({ kind: "found", session: other });
  expect(resolve([edit], { instance: "three" })).toMatchObject({
    kind: "none",
    message: expect.stringMatching(/no instance "three"/),
  });
});

test("[LB2] one instance: its only context, whichever it is", () => {
  expect(resolve([server], {})).toEqual({ kind: "found", session: server });
});

test("[LB2] one instance with several contexts: edit", () => {
  expect(resolve([server, edit, client], {})).toEqual({ kind: "found", session: edit });
  expect(resolve([server, client], {})).toMatchObject({
    kind: "no-context",
    message: expect.stringMatching(/it has: server, client/),
  });
});

test("[LB2] nobody connected says so, to be waited for", () => {
  expect(resolve([], {})).toMatchObject({ kind: "none", message: expect.stringMatching(/No plugin is connected/) });
});

test("[LB2] a context that the instance lacks is its own answer", () => {
  expect(resolve([edit], { context: "server" })).toMatchObject({
    kind: "no-context",
    message: 'Instance "one" has no context "server", it has: edit',
  });
});

test("[LB2] several instances are an answer that lists them all", () => {
  const found = resolve([edit, other], {});
  expect(found.kind).toBe("several");
  const message = found.kind === "several" ? found.message : "";
  for (const part of ["2 instances", "s-edit", "s-other", "one", "two", "--session"]) expect(message).toContain(part);
});

test("[LB2] two windows of one place share instance and context: only the id tells them apart", () => {
  const twin = session("s-twin", "one", "edit");
  const found = resolve([edit, twin], { instance: "one", context: "edit" });
  expect(found).toMatchObject({ kind: "several", sessions: [edit, twin] });
});

test("[RC4] sessions group under their instance, each context named once", () => {
  const twin = session("s-twin", "one", "edit");
  expect(groupByInstance([edit, other, server, twin])).toEqual([
    expect.objectContaining({ instanceId: "one", contexts: ["edit", "server"], placeName: "Place of one" }),
    expect.objectContaining({ instanceId: "two", contexts: ["edit"] }),
  ]);
});

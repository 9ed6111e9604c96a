// Why did an agent not start? What a person reads, what is behind it, and the code that scripts get.
import { type FaultCode, isDiskFull, messageOf } from "../protocol/fault.ts";

export interface StartFailure {
  message: string;
  detail: string;
  code?: FaultCode;
}

const INSTALLED = "Check that it's installed.";

export const notInstalled = (displayName: string, install: string): StartFailure => ({
  message: `Could not start ${displayName}. ${INSTALLED}`,
  detail: `Install it with: ${install}`,
  code: "AGENT_NOT_FOUND",
});

export function notStarted(displayName: string, thrown: unknown): StartFailure {
  const detail = messageOf(thrown);
  if (!isDiskFull(thrown)) return { message: `Could not start ${displayName}. ${INSTALLED}`, detail };
  return {
    message: `Could not start ${displayName}: the disk is full; make room and try again`,
    detail,
    code: "DISK_FULL",
  };
}

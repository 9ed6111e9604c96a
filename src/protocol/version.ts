// Which version is this? The wire's number changes only when an older peer would misread us.
import { version } from "../../package.json" with { type: "json" };

export const VERSION: string = version;
export const PROTOCOL_VERSION = 2;
/** The oldest wire this binary still speaks with. */
export const OLDEST_PROTOCOL_VERSION = 2;
export const DEFAULT_PORT = 38741;

// Where does Playwright come in? Here alone, and only when a browser is needed: loading it takes half a second.
import type { Browser, BrowserContext, CDPSession, Frame, Locator, Page, Request } from "playwright-core";

export type { Browser, BrowserContext, CDPSession, Frame, Locator, Page, Request };

export const loadPlaywright = (): Promise<typeof import("playwright-core")> => import("playwright-core");

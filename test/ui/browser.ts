/** A real browser: Debian's chromium, driven by Playwright. Where there is none, the tests are skipped, but never in CI. */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { until } from "../support/until.js";

export const CHROMIUM = "/usr/bin/chromium";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const hasBrowser = existsSync(CHROMIUM);

/** Headless, with an empty profile that is deleted when it closes. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });

export interface Look {
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

/** A tab of its own, with what went wrong in it: errors on the console, and requests to anywhere else. */
export async function openTab(browser: Browser, { theme = "light", width = 1280, height = 900 }: Look = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { page, complaints, close: () => context.close() };
}

export type Tab = Awaited<ReturnType<typeof openTab>>;

/** Waits until nothing on the page is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main h1").first().waitFor();
  const loading = page.locator("main").locator(".loading, [aria-busy='true']");
  await until(async () => (await loading.count()) === 0);
}

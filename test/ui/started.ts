/** One browser for a test file, and tabs that complain in the test's end. Skipped, with a word, where there is no browser. */
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { CHROMIUM, hasBrowser, type Look, launchBrowser, openTab, type Tab } from "./browser.js";

let browser: Browser;
const tabs: Tab[] = [];

/** Like `describe`, where a browser is. In CI there must be one. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (!hasBrowser && process.env["CI"]) throw new Error(`CI needs a browser at ${CHROMIUM}: apt-get install chromium`);
  if (!hasBrowser) console.warn(`skipped: ${name}: there is no browser at ${CHROMIUM} (apt-get install chromium)`);
  describe.skipIf(!hasBrowser)(name, () => {
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterEach(async () => {
      const complaints = tabs.flatMap((tab) => tab.complaints);
      for (const { close } of tabs.splice(0)) await close();
      expect(complaints, "what the console of the browser says").toEqual([]);
    });
    afterAll(async () => {
      await browser.close();
    });
    tests();
  });
}

export async function tab(url: string, look?: Look): Promise<Tab> {
  const opened = await openTab(browser, look);
  tabs.push(opened);
  await opened.page.goto(url);
  return opened;
}

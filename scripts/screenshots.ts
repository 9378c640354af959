/**
 * Takes a screenshot of every page of the dashboard: light and dark, wide and narrow, with the sample conversation. Those of
 * the README show what one window shows.
 *
 *   node scripts/setup.mjs && node build/scripts/screenshots.js <folder>
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
import { until } from "../test/support/until.js";
import { launchBrowser, openTab, settled } from "../test/ui/browser.js";

const PLACE = "user=ada&session=moving-house";
const VIEWS: { readonly [name: string]: string } = {
  overview: "/",
  flow: "/flow?part=hybrid",
  metrics: "/measurements?range=15m",
  search: `/search?${PLACE}&q=When+do+the+movers+come%3F`,
  compare: `/search?${PLACE}&q=When+do+the+movers+come%3F&compare=1&b.by=words`,
  conversations: `/conversations?${PLACE}`,
  blocks: "/blocks?user=ada&block=persona",
  facts: "/blocks?user=ada&tab=facts",
  context: `/context?${PLACE}&q=What+should+I+know+about+the+flat%3F&budget=900`,
  settings: "/settings",
  configuration: "/settings?section=configuration",
  import: "/settings?section=import",
  export: "/settings?section=export",
  upkeep: "/settings?section=upkeep",
  api: "/docs?op=query",
};
const SIZES = { wide: { width: 1280, height: 860 }, narrow: { width: 400, height: 860 } };
const THEMES = ["light", "dark"] as const;
const IN_README = ["context", "search", "flow"];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder for the pictures");
mkdirSync(folder, { recursive: true });

const server = await serve({ path: ":memory:", server: { port: 0, logLevel: "silent" } });
const browser = await launchBrowser();
try {
  const first = await openTab(browser);
  await first.page.goto(server.url);
  await first.page.getByRole("button", { name: "Load a sample conversation" }).click();
  await first.page.getByRole("heading", { name: "Health" }).waitFor();
  await first.close();
  const memory = connect(server.url);
  await until(async () => (await memory.statsHistory()).at.length > 1); // a plot needs two samples
  for (const [size, area] of Object.entries(SIZES)) {
    for (const theme of THEMES) {
      const { page, close } = await openTab(browser, { theme, ...area });
      for (const [name, path] of Object.entries(VIEWS)) {
        await page.goto(server.url + path);
        await settled(page);
        await page.screenshot({ path: join(folder, `${name}-${size}-${theme}.png`), fullPage: true });
        if (size === "wide" && theme === "light" && IN_README.includes(name))
          await page.screenshot({ path: join(folder, `${name}.png`) });
      }
      await close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}

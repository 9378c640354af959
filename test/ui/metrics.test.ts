/** The Metrics page: the history of a real server, on a clock that the test moves. */
import { connect, type RemoteMemory } from "holdfast/client";
import { FakeClock } from "holdfast/testing";
import { beforeAll, expect, it } from "vitest";
import { start } from "../server/started.js";
import { HashEmbedder } from "../support/product.js";
import { until } from "../support/until.js";
import { seriousProblems } from "./axe.js";
import { settled } from "./browser.js";
import { describeInBrowser, tab } from "./started.js";

const EVERY_MS = 10_000;

let url: string;
let memory: RemoteMemory;
let clock: FakeClock;

beforeAll(async () => {
  clock = new FakeClock();
  ({ url } = await start({ clock, embedder: new HashEmbedder() }));
  memory = connect(url);
});

/** Lets the time of some samples pass. */
async function sample(count: number): Promise<void> {
  for (let taken = 0; taken < count; taken++) {
    const { at } = await memory.statsHistory({ since: clock.now() - 1 });
    expect(at.length).toBeLessThan(2);
    const due = clock.now() + EVERY_MS;
    clock.advance(EVERY_MS);
    await until(async () => (await memory.statsHistory({ since: due - 1 })).at.length > 0);
  }
}

/** How many colours each plot has: lines with soft edges, marks, text. A copy is read, because plots are made to be drawn. */
const COLOURS = `Array.from(document.querySelectorAll(".plot canvas"), (canvas) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size;
})`;

describeInBrowser("the Metrics page", () => {
  it("says that there is too little to show, until there are two samples", async () => {
    const { page } = await tab(`${url}/measurements`);
    await page.getByText("Not enough samples yet").waitFor();
    await sample(1);
    await page.reload();
    await page.getByText("Not enough samples yet").waitFor();
    await sample(1);
    await page.reload();
    await page.getByRole("heading", { name: "Throughput" }).waitFor();
  });

  it("draws every plot, and shows its numbers in a table", async () => {
    const session = memory.session({ user: "ada", session: "evening" });
    for (let at = 0; at < 20; at++) await session.add([{ role: "user", content: `lamp ${at}` }]);
    await memory.flush();
    await session.query("lamp");
    await session.query("lamp");
    await session.context({ query: "lamp", dryRun: true });
    await sample(1);
    const { page } = await tab(`${url}/measurements`);
    await page.getByRole("heading", { name: "Throughput" }).waitFor();
    await settled(page);
    const number = (plot: string, line: string) =>
      page.getByRole("figure", { name: plot, exact: true }).getByRole("row", { name: line }).getByRole("cell").first();
    expect(await number("Writes", "Adds").textContent()).toBe("2/s");
    expect(await number("Reads", "Queries").textContent()).toMatch(/^0\.\d+\/s$/);
    expect(await number("Process", "Resident").textContent()).toMatch(/ [MG]iB$/);
    expect(await number("Waiting", "Items to embed").textContent()).toBe("0");
    for (const plot of ["Add", "Context", "Query, cold", "Query, cached", "Flush to the store"]) {
      expect(await number(plot, "95 of 100").textContent(), plot).toMatch(/ ms$/);
    }
    const shares = page.getByRole("figure", { name: "Questions, by the level that answered" });
    const cells = await shares.getByRole("row").filter({ hasText: "%" }).locator("td:first-of-type").allTextContents();
    const sum = cells.reduce((all, cell) => all + Number.parseInt(cell, 10), 0);
    expect(sum, "every question has one origin").toBeGreaterThan(97);
    const plots = await page.getByRole("figure").count();
    const colours = async () => (await page.evaluate(COLOURS)) as readonly number[];
    await until(async () => (await colours()).every((count) => count > 8));
    expect(await colours()).toHaveLength(plots);
  });

  it("shows the range that the URL names, and the numbers under the cursor in every plot", async () => {
    await sample(95); // more than a quarter of an hour, in which nothing happens
    const { page } = await tab(`${url}/measurements?range=15m`);
    await page.getByRole("heading", { name: "Throughput" }).waitFor();
    await settled(page);
    const highest = (line: string) =>
      page.getByRole("figure", { name: "Writes" }).getByRole("row", { name: line }).getByRole("cell").last();
    expect(await highest("Adds").textContent()).toBe("0/s");
    await page.getByRole("button", { name: "6 h" }).click();
    await until(async () => (await highest("Adds").textContent()) === "2/s");
    expect(new URL(page.url()).searchParams.get("range")).toBe("6h");
    await page.goto(`${url}/measurements?range=15m`);
    await settled(page);
    const heads = page.getByRole("figure").getByRole("columnheader", { name: "Newest" });
    await until(async () => (await heads.count()) === (await page.getByRole("figure").count()));
    await page.locator(".u-over").first().hover();
    await until(async () => (await heads.count()) === 0);
  });

  it("is readable for everyone, and fits 400 pixels", async () => {
    for (const theme of ["light", "dark"] as const) {
      const { page } = await tab(`${url}/measurements`, { theme, width: 400 });
      await page.getByRole("heading", { name: "Throughput" }).waitFor();
      await settled(page);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
      expect(await seriousProblems(page)).toEqual([]);
    }
  });

  it("has the colours of the theme", async () => {
    const { page } = await tab(`${url}/measurements`, { theme: "light" });
    await page.getByRole("heading", { name: "Throughput" }).waitFor();
    await settled(page);
    const picture = () => page.evaluate("document.querySelector('.plot canvas').toDataURL()");
    const light = await picture();
    expect(light).toMatch(/^data:image/);
    await page.getByRole("button", { name: /^Theme/ }).click();
    await page.getByRole("button", { name: "Theme: light" }).click();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    await until(async () => (await picture()) !== light);
    await page.getByRole("button", { name: "Theme: dark" }).click();
    await until(async () => (await picture()) === light);
  });
});

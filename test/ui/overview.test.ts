/** The Overview page: counts of what is in memory, its growth on a clock that the test moves, and what it loads. */
import { connect, type RemoteMemory } from "holdfast/client";
import { FakeClock } from "holdfast/testing";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { HashEmbedder } from "../support/product.js";
import { until } from "../support/until.js";
import { seriousProblems } from "./axe.js";
import { settled } from "./browser.js";
import { describeInBrowser, tab } from "./started.js";

const EVERY_MS = 10_000;
const ADA = { user: "ada", session: "evening" };

let url: string;
let memory: RemoteMemory;
let clock: FakeClock;

beforeAll(async () => {
  clock = new FakeClock();
  ({ url } = await start({ clock, embedder: new HashEmbedder() }));
  memory = connect(url);
});

async function sample(): Promise<void> {
  const due = clock.now() + EVERY_MS;
  clock.advance(EVERY_MS);
  await until(async () => (await memory.statsHistory({ series: "storedItems" })).at.at(-1) === due);
}

const say = (content: string) => ({ role: "user", content }) as const;

const figure = (page: Page, label: string) =>
  page
    .locator("main dl > div")
    .filter({ has: page.getByText(label, { exact: true }) })
    .locator(".figure");

describeInBrowser("the Overview page", () => {
  it("counts messages, facts that hold, knowledge, blocks, users and sessions, as they change", async () => {
    const session = memory.session(ADA);
    await session.add([say("I keep the boat in Porto."), say("The mast is green."), say("It sails on Sundays.")]);
    const lisbon = await session.facts.upsert({ category: "place", content: "Ada lives in Lisbon.", confidence: 0.9 });
    await session.facts.upsert({ category: "boat", content: "The mast is green.", confidence: 0.9 });
    await session.blocks.create({ name: "persona", content: "Ada sails." });
    const { page } = await tab(url);
    await settled(page);
    const shown = async () =>
      Promise.all(
        ["Messages", "Facts", "Knowledge", "Blocks", "Users", "Sessions"].map((name) =>
          figure(page, name).textContent(),
        ),
      );
    expect(await shown()).toEqual(["3", "2", "0", "1", "1", "1"]);
    await session.facts.end(lisbon.fact.id);
    await until(async () => (await figure(page, "Facts").textContent()) === "1");
    await connect(url)
      .session({ user: "bob" })
      .add([say("figs")]);
    await until(async () => (await figure(page, "Users").textContent()) === "2");
    expect(await shown()).toEqual(["4", "1", "0", "1", "2", "1"]);
  });

  it("shows the time from write to searchable in plain words", async () => {
    const { page } = await tab(url);
    await settled(page);
    await page.getByText("by meaning: 95 % of messages within this time").waitFor();
  });

  it("shows how memory grows, in words and as a line, once there are two samples", async () => {
    const { page } = await tab(url);
    const growth = page.getByRole("region", { name: "Growth" });
    await growth.getByText("The line appears with the second sample.").waitFor();
    expect(await growth.locator(".sparkline").count()).toBe(0);
    await sample();
    await memory.session(ADA).add([say("one"), say("two")]);
    await sample();
    await memory.session(ADA).add([say("three")]);
    await sample();
    const { items } = (await memory.stats()).store;
    await page.reload();
    await growth.getByText(`from ${items - 3} to ${items} items`).waitFor();
    expect(await growth.locator(".figure").textContent()).toBe("+3");
    expect(await growth.locator(".sparkline").getAttribute("style"), "from the lowest value to the highest").toContain(
      "polygon(0% 100%, 0.00% 90.00%, 50.00% 36.67%, 100.00% 10.00%, 100% 100%)",
    );
    expect(await seriousProblems(page)).toEqual([]);
  });

  it("loads the plots' library on no page but those that plot", async () => {
    for (const [path, plots] of [
      ["/", false],
      ["/search?user=ada&q=boat", false],
      ["/context?user=ada&q=boat", false],
      ["/measurements", true],
    ] as const) {
      const scripts: string[] = [];
      const { page } = await tab("about:blank");
      page.on("response", (response) => {
        if (response.url().endsWith(".js")) scripts.push(response.url());
      });
      await page.goto(url + path);
      await settled(page);
      if (plots) await page.getByRole("figure").first().waitFor();
      const texts = await Promise.all(scripts.map(async (script) => (await fetch(script)).text()));
      expect(texts.length, path).toBeGreaterThan(0);
      expect([path, texts.some((text) => text.includes("uplot"))]).toEqual([path, plots]);
    }
  });

  it("counts more users and sessions than one page of a list has, also on the conversations page", async () => {
    const { url: own } = await start({ embedder: new HashEmbedder() });
    const crowd = connect(own);
    for (let at = 0; at < 102; at++) await crowd.users.create(`user-${at}`);
    await crowd.session({ agent: "guide", session: "s" }).add([say("figs")]);
    const { page } = await tab(own);
    await until(async () => (await figure(page, "Users").textContent()) === "102");
    expect(await figure(page, "Sessions").textContent()).toBe("1");
    await page.getByText("and 1 agent", { exact: true }).waitFor();
    await page.goto(`${own}/conversations`);
    await page.getByText("102 users", { exact: true }).waitFor();
  });

  it("shows a key of one user what it may see, without the counts of everyone", async () => {
    const path = newPath();
    const ada = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    const { server, admin } = await startWithKeys({ path });
    await admin.data("POST /api/v1/messages", { query: ADA, body: { messages: [say("figs")] } });
    const { page, complaints } = await tab(server.url);
    await page.getByLabel("API key").fill(ada.secret);
    await page.getByRole("button", { name: "Open" }).click();
    await settled(page);
    await page.getByRole("link", { name: "evening", exact: true }).waitFor();
    for (const name of ["Messages", "Users"]) expect(await page.getByText(name, { exact: true }).count()).toBe(0);
    expect(await page.getByRole("region", { name: "Growth" }).count()).toBe(0);
    expect(complaints.splice(0).filter((text) => !/status of 40[13]/.test(text))).toEqual([]);
  });
});

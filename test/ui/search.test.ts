/** The Search page: why an item is not among the hits, and where an answer came from. */
import { connect, type RemoteMemory } from "holdfast/client";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { until } from "../support/until.js";
import { seriousProblems } from "./axe.js";
import { settled } from "./browser.js";
import { HOSTILE } from "./hostile.js";
import { describeInBrowser, tab } from "./started.js";

const ADA = { user: "ada", session: "evening" };
const BOATS = ["the boat is green", "the boat has a tall mast", "a boat sails to Porto", "she keeps a boat and a dog"];

let url: string;
let memory: RemoteMemory;

beforeAll(async () => {
  ({ url } = await start());
  memory = connect(url);
  await memory.session(ADA).add(BOATS.map((content, at) => ({ id: `boat-${at}`, role: "user", content }) as const));
  await memory.session({ user: "ada", session: "market" }).add([{ id: "figs", role: "user", content: "I like figs." }]);
});

const whyNot = (page: Page) => page.getByRole("region", { name: "Why not this item?" });
const origin = (page: Page) => page.getByRole("status").locator(".badge");

describeInBrowser("the Search page", () => {
  it("says why an item is not among the hits, with its place and its score beside that of the last hit", async () => {
    const ranking = await memory.session(ADA).query("boat", { by: "words", explain: true });
    const [, , third] = ranking;
    const { page } = await tab(`${url}/search?user=ada&session=evening&q=boat&by=words`);
    await settled(page);
    await page.getByLabel("Hits").selectOption("5");
    const field = page.getByRole("combobox", { name: "Why not this item?" });
    await field.fill(String(third?.id));
    await whyNot(page).getByText("It is among the hits, at place 3.").waitFor();
    expect(new URL(page.url()).searchParams.get("why"), "a link shows the same").toBe(third?.id);
    await page.goto(page.url().replace("top=5", "top=2"));
    await whyNot(page).getByText("It was ranked at place 3. The answer shows the best 2.").waitFor();
    const scores = whyNot(page).locator("dt");
    expect(await scores.allTextContents()).toEqual([
      `This item, place 3 ${third?.score.toFixed(3)}`,
      `The last hit, place 2 ${ranking[1]?.score.toFixed(3)}`,
    ]);
    expect(await whyNot(page).locator(".why-bar").count()).toBe(2);
    await whyNot(page).getByText(String(third?.content)).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
  });

  it("shows no hits of an earlier question beside one that is refused", async () => {
    const { page } = await tab(`${url}/search?user=ada&q=boat`);
    await page.getByRole("article", { name: "Hit 1", exact: true }).waitFor();
    await page.getByRole("combobox", { name: "User" }).fill("u".repeat(600));
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("512 characters").waitFor();
    expect(await page.getByRole("article").count()).toBe(0);
  });

  it("says of an item that no search found it, and of an id that it is none", async () => {
    const { page } = await tab(`${url}/search?user=ada&q=boat&by=words&why=figs`);
    await whyNot(page).getByText("No source found it.").waitFor();
    await whyNot(page).getByText("I like figs.").waitFor();
    expect(await whyNot(page).locator("dt").count(), "it has no score").toBe(0);
    await page.goto(`${url}/search?user=ada&q=boat&by=words&role=tool&why=figs`);
    await whyNot(page).getByText("Excluded by the filter: role.").waitFor();
    await page.getByRole("combobox", { name: "Why not this item?" }).fill("none");
    await page.keyboard.press("Enter");
    await whyNot(page).getByText("Not in these spaces, or expired.").waitFor();
    await page.getByRole("combobox", { name: "Why not this item?" }).fill("");
    await page.keyboard.press("Tab");
    await until(async () => (await whyNot(page).count()) === 0);
  });

  it("offers the newest items by their text, hostile text as text", async () => {
    await memory.session({ user: "eve" }).add([
      { id: "x", role: "user", content: `${HOSTILE.html} \u202e \u0007` },
      { id: "long", role: "user", content: "figs ".repeat(1_000) },
    ]);
    const { page } = await tab(`${url}/search?user=eve&q=figs`);
    await settled(page);
    const offered = page.locator("#newest-items option");
    await until(async () => (await offered.count()) === 2);
    const [long = "", hostile = ""] = await offered.allTextContents();
    expect(long.length).toBeLessThan(100);
    expect(hostile).toContain(HOSTILE.html.slice(0, 40));
    for (const sign of ["\u202e", "\u0007"]) expect(hostile).not.toContain(sign);
    expect(hostile).toContain("U+202E");
    expect(await page.evaluate("window.pwned")).toBeUndefined();
  });

  it("distinguishes an answer that was searched from one whose ranking was cached", async () => {
    const { page } = await tab(`${url}/search?user=ada&q=tall+mast`);
    await settled(page);
    expect(await origin(page).allTextContents()).toEqual(["searched"]);
    await page.getByRole("button", { name: "Search" }).click();
    await until(async () => (await origin(page).textContent()) === "ranking from the cache");
    await page.getByText("How it was asked").click();
    await page.getByText("An explained answer is assembled again each time").waitFor();
  });

  it("queries as an application does, and shows that an answer came from the cache", async () => {
    const { page } = await tab(`${url}/search?user=ada&q=green+boat&plain=1&why=figs`);
    await settled(page);
    expect(await origin(page).allTextContents()).toEqual(["searched"]);
    expect(await page.getByRole("article").first().locator(".why").count(), "no explanation").toBe(0);
    expect(await whyNot(page).count()).toBe(0);
    expect(await page.getByRole("combobox", { name: "Why not this item?" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Search" }).click();
    await until(async () => (await origin(page).textContent()) === "from the cache");
    await page.getByLabel("Compare two sets of options").check();
    await until(async () => (await origin(page).count()) === 2);
    expect(await origin(page).allTextContents(), "one after the other").toEqual(["from the cache", "from the cache"]);
    await page.getByLabel("Ask as an application does, without explanations").uncheck();
    await page.locator(".why").first().waitFor();
  });

  it("does not guess where an answer came from if others ask at the same time", async () => {
    const { page } = await tab(`${url}/search?user=ada`);
    await settled(page);
    await page.route("**/api/v1/query*", async (route) => {
      await memory.session(ADA).query("somebody else's question");
      await route.continue();
    });
    await page.getByLabel("Ask as an application does, without explanations").check();
    await page.getByRole("searchbox", { name: "Question" }).fill("boat");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("Others asked at the same moment").waitFor();
    expect(await origin(page).count()).toBe(0);
  });

  it("says to a key that is no admin's that it cannot tell", async () => {
    const path = newPath();
    const ada = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    const { server, admin } = await startWithKeys({ path });
    await admin.data("POST /api/v1/messages", {
      query: ADA,
      body: { messages: [{ role: "user", content: "a boat" }] },
    });
    const { page, complaints } = await tab(`${server.url}/search?user=ada&q=boat&plain=1`);
    await page.getByLabel("API key").fill(ada.secret);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("Only an admin key can tell whether the answer was cached.").waitFor();
    await page.getByRole("article", { name: "Hit 1", exact: true }).waitFor();
    expect(complaints.splice(0).filter((text) => !/status of 401/.test(text))).toEqual([]);
  });

  it("fits 400 pixels with an item that is not among the hits", async () => {
    const { page } = await tab(`${url}/search?user=ada&q=boat&top=5&why=figs`, { width: 400 });
    await whyNot(page).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  });
});

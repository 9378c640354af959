/** The Context page: long prompts, and what the ledger suppresses. */
import { connect, type RemoteMemory } from "holdfast/client";
import { beforeAll, expect, it } from "vitest";
import { start } from "../server/started.js";
import { HashEmbedder } from "../support/product.js";
import { until } from "../support/until.js";
import { seriousProblems } from "./axe.js";
import { settled } from "./browser.js";
import { describeInBrowser, tab } from "./started.js";

const ADA = { user: "ada", session: "evening" };
const BOATS = Array.from({ length: 20 }, (_, at) => `boat number ${at} is moored in Porto`);

let url: string;
let memory: RemoteMemory;

beforeAll(async () => {
  ({ url } = await start({ embedder: new HashEmbedder() }));
  memory = connect(url);
  await memory.session({ user: "ada", session: "harbour" }).add(BOATS.map((content) => ({ role: "user", content })));
  await memory.flush();
});

const PLACE = "user=ada&session=evening&q=boat+in+Porto";

describeInBrowser("the Context page", () => {
  it("shows the rest of a long run of pieces on demand, and the text as a whole", async () => {
    const { page } = await tab(`${url}/context?${PLACE}`);
    await settled(page);
    const pieces = page.locator(".sheet .piece.in-recall");
    const all = (await memory.session(ADA).context({ query: "boat in Porto", budgetTokens: 2000, dryRun: true })).added;
    expect(all.length).toBeGreaterThan(12);
    expect(await pieces.count()).toBe(8);
    await page.getByRole("button", { name: `Show ${all.length - 8} more pieces` }).click();
    await until(async () => (await pieces.count()) === all.length);
    await page.getByRole("button", { name: "Text", exact: true }).click();
    const text = (await page.locator(".rendered").textContent()) ?? "";
    for (const item of all) expect(text).toContain(item.text);
  });

  it("fits 400 pixels with a long prompt", async () => {
    const { page } = await tab(`${url}/context?${PLACE}`, { width: 400 });
    await page.getByRole("button", { name: /^Show \d+ more pieces/ }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  });

  it("distinguishes the heading of a piece from its text, which is all that a turn has", async () => {
    await memory.session({ user: "bob", session: "evening" }).add([{ role: "user", content: "Hello.\nI am Bob." }]);
    const { page } = await tab(`${url}/context?user=bob&session=evening`);
    const turn = page.locator(".piece.in-turns pre").first();
    await turn.waitFor();
    expect(await turn.locator("> span").allTextContents()).toEqual(["", "User: Hello.\n  I am Bob."]);
    await page.goto(`${url}/context?${PLACE}`);
    const recalled = page.locator(".piece.in-recall pre").first().locator("> span");
    await recalled.first().waitFor();
    expect(await recalled.allTextContents()).toEqual([
      expect.stringMatching(/^\[message [^\n]*\]\n$/),
      expect.stringMatching(/^> boat number/),
    ]);
  });

  it("keeps the call in view while one scrolls, on wide screens", async () => {
    const { page } = await tab(`${url}/context?${PLACE}`, { height: 500 });
    await page.getByRole("button", { name: /^Show \d+ more pieces/ }).click();
    for (const name of ["Shares", "More options", "The call in code"])
      await page.getByText(name, { exact: true }).click();
    await page.evaluate("scrollTo(0, 600)");
    await until(async () => (await page.evaluate("scrollY")) === 600);
    const box = await page.getByRole("form", { name: "The call" }).boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0), "its end can be reached too").toBeLessThanOrEqual(500);
  });

  it("marks a turn that is the beginning of another, and one that says the same again", async () => {
    const session = memory.session({ user: "dan", session: "evening" });
    const said = ["I moved to Lisbon", "I moved", "Really", "I moved"];
    for (const content of said) await session.add([{ role: "user", content }]);
    const { added } = await session.context({ budgetTokens: 2000, dryRun: true });
    const { page } = await tab(`${url}/context?user=dan&session=evening`);
    await page.locator(".piece.in-turns").first().waitFor();
    const shown = await page.locator(".piece.in-turns pre").allTextContents();
    expect(shown.toSorted()).toEqual(added.map(({ text }) => text).toSorted());
    expect((await page.locator(".piece.frame").allTextContents()).join()).not.toContain("moved");
  });

  it("does not take the number of recent turns for their share of the budget", async () => {
    const session = memory.session({ user: "cas", session: "evening" });
    for (let at = 0; at < 5; at++) await session.add([{ role: "user", content: `turn ${at}` }]);
    const { page } = await tab(`${url}/context?user=cas&session=evening`);
    const text = async (): Promise<string> => (await page.locator(".rendered").textContent()) ?? "";
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await page.getByText("More options").click();
    await page.getByLabel("Recent turns").fill("2");
    await page.keyboard.press("Enter");
    const { tail } = await session.context({ budgetTokens: 2000, turns: 2, dryRun: true });
    await until(async () => (await text()) === tail);
    await page.getByText("Shares", { exact: true }).click();
    await page.getByRole("slider", { name: "Turns" }).fill("0.5");
    await until(() => page.url().includes("share.turns=0.5"));
    await settled(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await text()).toBe(tail);
  });

  it("records what is shown once, however often one clicks", async () => {
    const session = memory.session({ user: "ada", session: "twice" });
    const { page } = await tab(`${url}/context?user=ada&session=twice&q=boat+in+Porto&budget=200`);
    await settled(page);
    const shown = await session.context({ query: "boat in Porto", budgetTokens: 200, dryRun: true });
    await page.getByRole("button", { name: "Record as given" }).dblclick();
    await page.getByText(`${shown.added.length} items given so far`).waitFor();
    expect((await session.ledger()).entries.length).toBe(shown.added.length);
  });

  it("lists what the ledger suppresses, until the window is reset", async () => {
    const session = memory.session(ADA);
    const given = await session.context({ query: "boat in Porto", budgetTokens: 300 });
    expect(given.added.length).toBeGreaterThan(2);
    const { page } = await tab(`${url}/context?${PLACE}&budget=300`);
    await settled(page);
    await page.getByText(`${given.added.length} items not given again`).click();
    const suppressed = page.locator(".suppressed li");
    expect(await suppressed.count()).toBe(given.added.length);
    const shown = await suppressed.allTextContents();
    for (const { text } of given.added) expect(shown.some((one) => one.includes(text))).toBe(true);
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Reset" }).click();
    await until(async () => (await suppressed.count()) === 0);
    expect((await session.ledger()).entries, "looking changes nothing").toEqual([]);
  });
});

/** The Blocks and facts page in a browser: edits, conflicts, history, and what holds since when. */
import type { Session } from "holdfast";
import { connect } from "holdfast/client";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { until } from "../support/until.js";
import { settled } from "./browser.js";
import { HOSTILE } from "./hostile.js";
import { describeInBrowser, tab } from "./started.js";

const DAY_MS = 86_400_000;

let url: string;
const session = (user: string): Session => connect(url).session({ user });
const at = (scope: { readonly [name: string]: string }): string =>
  `${url}/blocks?${new URLSearchParams(scope).toString()}`;
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
const version = (page: Page, number: number) => page.getByRole("article", { name: `Version ${number}`, exact: true });
/** What the browser says about refused calls, which these tests provoke. */
const forget = (complaints: string[], status: number): void => {
  const others = complaints.splice(0).filter((text) => !text.includes(`status of ${status}`));
  expect(others).toEqual([]);
};

beforeAll(async () => {
  ({ url } = await start());
});

describeInBrowser("Blocks", () => {
  it("creates, edits with a reason, restores, configures, renames and deletes a block", async () => {
    const { page } = await tab(at({ user: "ada" }));
    const dialog = page.getByRole("dialog");
    await button(page, "New block").click();
    await dialog.getByLabel("Name", { exact: true }).fill("persona");
    await dialog.getByLabel("Text").fill("Ada lives in Porto.");
    await dialog.getByLabel("Budget in tokens").fill("50");
    await button(page, "Create").click();
    await page.getByRole("heading", { name: "persona" }).waitFor();
    expect(new URL(page.url()).searchParams.get("block")).toBe("persona");
    await button(page, "Edit").click();
    await page.getByRole("textbox", { name: "Text" }).fill("Ada lives in Lisbon.");
    await page.getByLabel("Reason").fill("she moved");
    await button(page, "Save").click();
    await version(page, 2).getByText("she moved").waitFor();
    await version(page, 2).locator("ins").getByText("Lisbon").waitFor();
    await version(page, 2).locator("del").getByText("Porto").waitFor();
    expect(await session("ada").blocks.history("persona")).toMatchObject([{ version: 2, reason: "she moved" }]);
    await version(page, 1).getByRole("button", { name: "Restore this version" }).click();
    await version(page, 3).getByText("restored version 1").waitFor();
    expect((await session("ada").blocks.get("persona"))?.content).toBe("Ada lives in Porto.");
    await button(page, "Settings").click();
    await dialog.getByLabel("Name", { exact: true }).fill("who Ada is");
    await dialog.getByLabel("Budget in tokens").fill("2");
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "who Ada is" }).waitFor();
    await page.getByText("over its budget").first().waitFor();
    await button(page, "Archive what exceeds it").click();
    await page.getByText("overflow archived").waitFor();
    await until(async () => (await page.getByText("over its budget").count()) === 0);
    expect((await session("ada").query("Porto")).map(({ kind }) => kind)).toContain("overflow");
    await button(page, "Delete…").click();
    await dialog.getByLabel("Name", { exact: true }).fill("who Ada is");
    await button(page, "Delete the block").click();
    await dialog.getByText("1 block").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByText("No blocks yet.").waitFor();
    expect(await session("ada").blocks.list()).toEqual([]);
  });

  it("shows both texts in a conflict, and merges, overwrites or takes the other's, as chosen", async () => {
    const { blocks } = session("cleo");
    await blocks.create({ name: "plan", content: "one\ntwo\nthree\nfour\nfive\n" });
    const { page, complaints } = await tab(at({ user: "cleo", block: "plan" }));
    const mine = page.getByRole("textbox", { name: /^(Your t|T)ext$/ });
    const newest = async () => (await blocks.get("plan"))?.content;
    await button(page, "Edit").click();
    await mine.fill("ONE\ntwo\nthree\nfour\nfive\n");
    await blocks.edit("plan", { content: "one\ntwo\nthree\nfour\nFIVE\n" });
    await page.getByText("it is at version 2, and you began with 1").waitFor();
    expect(await page.locator(".theirs").textContent()).toContain("FIVE");
    await button(page, "Merge both").click();
    await version(page, 3).waitFor();
    expect(await newest()).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
    await button(page, "Edit").click();
    await mine.fill("mine\n");
    await blocks.edit("plan", { content: "theirs\n" });
    await page.getByText("it is at version 4, and you began with 3").waitFor();
    await button(page, "Merge both").click();
    await page.getByText("The edits overlap").waitFor();
    expect(await mine.inputValue(), "nothing that was typed is lost").toBe("mine\n");
    expect(await newest(), "nothing was overwritten").toBe("theirs\n");
    await button(page, "Save over version 4").click();
    await version(page, 5).waitFor();
    expect(await newest()).toBe("mine\n");
    await button(page, "Edit").click();
    await mine.fill("again\n");
    await blocks.edit("plan", { content: "theirs again\n" });
    await button(page, "Take theirs").click();
    expect(await mine.inputValue()).toBe("theirs again\n");
    await mine.fill("my last words\n");
    await blocks.delete("plan");
    await page.getByText("No blocks yet.").waitFor();
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("no block").waitFor();
    expect(await mine.inputValue(), "not even if the block is gone").toBe("my last words\n");
    expect(complaints.splice(0).filter((text) => !/status of (404|409)/.test(text))).toEqual([]);
  });

  it("keeps two tabs alike", async () => {
    await session("dan").blocks.create({ name: "tasks", content: "call the landlord" });
    const { page: one } = await tab(at({ user: "dan", block: "tasks" }));
    const { page: other } = await tab(at({ user: "dan", block: "tasks" }));
    await button(one, "Edit").click();
    await one.getByRole("textbox", { name: "Text" }).fill("call the movers");
    await button(one, "Save").click();
    for (const page of [one, other]) {
      await page.locator(".block-text").getByText("call the movers").waitFor();
      await version(page, 2).waitFor();
    }
  });

  it("shows when each fact held and what superseded it, and leads to its source", async () => {
    const now = Date.now();
    const { ids } = await connect(url)
      .session({ user: "fay", session: "talk" })
      .add([{ role: "user", content: "I moved to Lisbon." }]);
    const { facts } = session("fay");
    const old = await facts.upsert({ category: "home", content: "Fay lives in Porto.", validFrom: now - 9 * DAY_MS });
    await facts.upsert({
      category: "home",
      content: "Fay lives in Lisbon.",
      validFrom: now - 3 * DAY_MS,
      supersedes: old.fact.id,
      source: { message: ids[0] as string },
    });
    const { page } = await tab(at({ user: "fay", tab: "facts" }));
    const fact = (text: string) =>
      page.getByRole("article").filter({ has: page.locator(".fact-text", { hasText: text }) });
    await fact("Porto").getByText("ended", { exact: true }).waitFor();
    await fact("Porto").getByRole("link", { name: "Fay lives in Lisbon." }).click();
    await fact("Lisbon").and(page.locator("[aria-current='true']")).waitFor();
    await fact("Lisbon").getByText(/– now/).waitFor();
    await button(page, "New fact").click();
    await page.getByLabel("Category").fill("pet");
    await page.getByLabel("The fact, in one sentence").fill("Fay has a cat.");
    await button(page, "Record").click();
    await fact("cat").getByText("holds").waitFor();
    await fact("cat").getByRole("button", { name: "Retract" }).click();
    await fact("cat").getByText("retracted").waitFor();
    await button(page, "New fact").click();
    await page.getByLabel("Category").fill("pet");
    await page.getByLabel("The fact, in one sentence").fill("Fay has a cat.");
    await button(page, "Record").click();
    await page.getByText("This fact was retracted.").waitFor();
    await button(page, "Record it anyway").click();
    await fact("cat").getByText("holds").waitFor();
    await fact("cat").getByRole("button", { name: "End" }).click();
    await fact("cat").getByText("ended", { exact: true }).waitFor();
    await fact("cat").getByRole("button", { name: "Forget…" }).click();
    await button(page, "Forget the fact").click();
    await page.getByRole("dialog").getByText("1 fact").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await until(async () => (await fact("cat").count()) === 0);
    await facts.upsert({ category: "pet", content: "Fay has a dog." });
    await fact("dog").waitFor();
    await button(page, "Ended").click();
    await until(async () => (await fact("dog").count()) === 0);
    await page.goto(`${url}/search?user=fay&q=dog&by=words`);
    await page.getByRole("link", { name: "Show this fact and its sources" }).click();
    await fact("dog").and(page.locator("[aria-current='true']")).waitFor();
    await page.goto(at({ user: "fay", tab: "facts" }));
    await fact("Lisbon").getByRole("link", { name: "a message of talk" }).click();
    await page.locator("article[aria-current='true']").getByText("I moved to Lisbon.").waitFor();
  });

  it("shows one page of many facts at a time", async () => {
    const { facts } = session("gus");
    for (let at = 0; at < 101; at++) await facts.upsert({ category: `c${at}`, content: `Gus has ${at} boats.` });
    const { page } = await tab(at({ user: "gus", tab: "facts" }));
    const cards = page.getByRole("article");
    await until(async () => (await cards.count()) === 100);
    await button(page, "Next 100").click();
    await until(async () => (await cards.count()) === 1);
    await button(page, "First").click();
    await until(async () => (await cards.count()) === 100);
  });

  it("offers a read-only key nothing that writes, and the server refuses it", async () => {
    const path = newPath();
    const { server, admin } = await startWithKeys({ path });
    const reader = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    await admin.data("POST /api/v1/blocks", { query: { user: "ada" }, body: { name: "persona", content: "one" } });
    await admin.data("POST /api/v1/facts", { query: { user: "ada" }, body: { category: "c", content: "It is so." } });
    const { page, complaints } = await tab(`${server.url}/blocks?user=ada&block=persona`);
    await page.getByLabel("API key").fill(reader.secret);
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator(".block-text").getByText("one").waitFor();
    const writing = page.getByRole("button", {
      name: /Edit|Settings|Delete|Restore|New|Archive|End$|Retract$|Forget(?! the key)/,
    });
    expect(await writing.count()).toBe(0);
    await page.getByRole("link", { name: "Facts", exact: true }).click();
    await page.getByText("It is so.").waitFor();
    expect(await writing.count()).toBe(0);
    const refused = connect(server.url, { key: reader.secret }).session({ user: "ada" });
    await expect(refused.blocks.edit("persona", { content: "no" })).rejects.toMatchObject({ code: "forbidden" });
    await expect(refused.facts.upsert({ category: "c", content: "no" })).rejects.toMatchObject({ code: "forbidden" });
    forget(complaints, 401);
  });

  it("shows hostile text as text, in diffs too", async () => {
    const { blocks, facts } = session("eve");
    await blocks.create({ name: HOSTILE.html, description: HOSTILE.attribute, content: HOSTILE.ansi });
    await blocks.edit(HOSTILE.html, {
      content: Object.values(HOSTILE).join("\n"),
      reason: HOSTILE.html,
      actor: HOSTILE.attribute,
    });
    for (const content of Object.values(HOSTILE)) await facts.upsert({ category: HOSTILE.html, content });
    for (const address of [at({ user: "eve", block: HOSTILE.html }), at({ user: "eve", tab: "facts" })]) {
      const { page } = await tab(address);
      await settled(page);
      await page.getByText("javascript:").first().waitFor();
      expect(await page.evaluate("window.pwned")).toBeUndefined();
      expect(await page.locator("main img, main b, main script, main svg").count()).toBe(0);
      const shown = (await page.locator("main").textContent()) ?? "";
      for (const sign of ["\u001b", "\u0007", "\u202e"]) expect(shown).not.toContain(sign);
      expect(shown).toContain("U+202E");
      if (address.includes("tab=facts")) continue;
      expect(await page.locator(".diff").first().textContent()).toContain("U+202E");
    }
  });
});

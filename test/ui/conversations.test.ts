/** The Conversations page in a browser: what is said, edited, deleted and forgotten, by the reader and by others. */
import { type Memory, type NewMessage, openMemory, type Session } from "holdfast";
import { connect } from "holdfast/client";
import { HashEmbedder } from "holdfast/testing";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { until } from "../support/until.js";
import { HOSTILE } from "./hostile.js";
import { describeInBrowser, tab } from "./started.js";

const ROWS_MAX = 300;
const LIMIT_MAX = 200;
const MANY = 20_000;

const said = (content: string, more: Partial<NewMessage> = {}): NewMessage => ({ role: "user", content, ...more });
const row = (page: Page, text: string) => page.getByRole("article").filter({ hasText: text });
const at = (path: string, scope: { readonly [name: string]: string }): string =>
  `${path}?${new URLSearchParams(scope).toString()}`;

let url: string;
const session = (user: string, name = "talk"): Session => connect(url).session({ user, session: name });

beforeAll(async () => {
  const embedder = new HashEmbedder();
  embedder.refuse((text) => text.includes("poison"));
  ({ url } = await start({ embedder }));
});

describeInBrowser("Conversations", () => {
  it("leads from users to sessions to messages, each with an address, and shows adds without a reload", async () => {
    await session("ada").add([said("I like figs."), { role: "assistant", content: "Noted." }]);
    const { page } = await tab(`${url}/conversations`);
    await page.getByRole("link", { name: "ada" }).click();
    await page.getByRole("link", { name: "talk" }).click();
    await row(page, "I like figs.").waitFor();
    expect(new URL(page.url()).search).toBe("?user=ada&session=talk");
    await session("ada").add([said("And pears.")]);
    await row(page, "And pears.").waitFor();
    await row(page, "And pears.").getByText("embedded").waitFor();
    await session("ada", "other").add([said("Elsewhere.")]);
    await page.getByRole("link", { name: "other" }).waitFor();
    await session("bea").add([said("Hello.")]);
    await page.getByRole("link", { name: "bea" }).waitFor();
    expect(await row(page, "Elsewhere.").count(), "another session").toBe(0);
    await page.getByRole("link", { name: "All items of the space" }).click();
    await row(page, "Elsewhere.").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "talk" }).waitFor();
  });

  it("jumps from a hit of Search to its message, and marks it", async () => {
    const rounds = Array.from({ length: 400 }, (_, n) => [said(n === 150 ? "the needle" : `hay ${n}`)]);
    await session("jan").addBatch(rounds);
    const { page, complaints } = await tab(`${url}${at("/search", { user: "jan", q: "needle", by: "words" })}`);
    await page.getByRole("link", { name: "Show in its conversation" }).first().click();
    const needle = row(page, "the needle");
    await needle.and(page.locator("[aria-current='true']")).waitFor();
    await until(() => isInView(page, needle));
    await page.goto(`${url}${at("/conversations", { user: "jan", session: "talk", item: "no-such-item" })}`);
    await page.getByText("That message is not here.").waitFor();
    await row(page, "hay 399").waitFor();
    expect(complaints.splice(0).filter((text) => !/status of 404/.test(text))).toEqual([]);
  });

  it("edits a message; in a conflict it shows the newer text and loses nothing that was typed", async () => {
    const [
      {
        ids: [id = ""],
      } = { ids: [] },
    ] = await session("eli").addBatch([[said("The movers come on Monday.")]]);
    const { page, complaints } = await tab(`${url}${at("/conversations", { user: "eli", session: "talk" })}`);
    const dialog = page.getByRole("dialog");
    await row(page, "Monday").getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Text").fill("The movers come on Tuesday.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row(page, "Tuesday").getByText("edited, version 2").waitFor();
    expect(await page.evaluate("document.activeElement.textContent"), "the focus is back").toBe("Edit");
    await row(page, "Tuesday").getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Text").fill("The movers come on Friday.");
    await session("eli").update(id, { content: "The movers come on Sunday." });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("to version 3").waitFor();
    await dialog.getByText("The movers come on Sunday.").waitFor();
    expect(await dialog.getByLabel("Your text").inputValue()).toBe("The movers come on Friday.");
    expect((await session("eli").get([id]))[0]?.content, "nothing was overwritten").toContain("Sunday");
    await dialog.getByRole("button", { name: "Save over version 3" }).click();
    await row(page, "Friday").getByText("version 4").waitFor();
    await row(page, "Friday").getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Text").fill("Never mind.");
    await page.keyboard.press("Escape");
    expect(await dialog.getByLabel("Text").inputValue(), "Escape does not drop what was typed").toBe("Never mind.");
    await session("eli").delete([id]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("The message was deleted meanwhile.").waitFor();
    expect(await dialog.getByLabel("Text").inputValue()).toBe("Never mind.");
    await dialog.getByRole("button", { name: "Close" }).click();
    await until(async () => (await page.getByRole("article").count()) === 0);
    expect(complaints.splice(0).filter((text) => !/status of (409|404)/.test(text))).toEqual([]);
  });

  it("deletes a message, forgets a session and a user by name, and shows each receipt", async () => {
    await session("fay").add([said("one", { id: "fay-1" }), said("two")]);
    const { fact } = await session("fay").facts.upsert({
      category: "c",
      content: "It is so.",
      source: { message: "fay-1" },
    });
    await session("fay").facts.upsert({ category: "c", content: "It is so.", source: {} });
    await session("fay", "later").add([said("three")]);
    const { page } = await tab(`${url}${at("/conversations", { user: "fay", session: "talk" })}`);
    const dialog = page.getByRole("dialog");
    const close = () => dialog.getByRole("button", { name: "Close" }).click();
    await row(page, "one").getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete the message" }).click();
    await dialog.getByText("1 item.").waitFor();
    await dialog.getByText("the fact has another source").waitFor();
    expect(await dialog.textContent()).toContain(fact.id);
    await close();
    expect(await row(page, "one").count()).toBe(0);
    await page.getByRole("button", { name: "Forget…" }).last().click();
    const forgetSession = dialog.getByRole("button", { name: "Forget the session" });
    expect(await forgetSession.isDisabled(), "its name has not been typed").toBe(true);
    await dialog.getByLabel("Name").fill("talk");
    await forgetSession.click();
    await dialog.getByText("1 session").waitFor();
    await close();
    await page.getByText("Which conversation?").waitFor();
    await page.getByRole("button", { name: "Forget user fay" }).click();
    await dialog.getByLabel("Name").fill("Fay");
    expect(await dialog.getByRole("button", { name: "Forget the user" }).isDisabled(), "another name").toBe(true);
    await dialog.getByLabel("Name").fill("fay");
    await dialog.getByRole("button", { name: "Forget the user" }).click();
    await dialog.getByText("the entry in the registry").waitFor();
    await close();
    await page.getByText("Whose conversations?").waitFor();
    expect(await connect(url).users.get("fay")).toBeUndefined();
    await until(async () => (await page.getByRole("link", { name: "fay" }).count()) === 0);
  });

  it("shows why a message is parked, and tries it again", async () => {
    await session("pia").add([said("some poison", { id: "pia-1" }), said("some water")]);
    const { page } = await tab(`${url}${at("/conversations", { user: "pia", session: "talk" })}`);
    const parked = row(page, "some poison");
    await parked.getByText("It could not be embedded.").waitFor();
    expect((await session("pia").parked()).items[0]?.attempts).toBe(1);
    await parked.getByText("1 attempt").waitFor();
    await row(page, "some water").getByText("embedded").waitFor();
    await session("pia").flush();
    await row(page, "some water").getByText("stored").waitFor();
    const retried = page.waitForResponse((response) => response.url().includes("/dead-letters/replay"));
    await parked.getByRole("button", { name: "Try again" }).click();
    expect(await (await retried).json()).toMatchObject({ data: { replayed: 1 } });
    await parked.getByText("It could not be embedded.").waitFor();
    await session("pia").update("pia-1", { content: "some wine" });
    await row(page, "some wine").getByText("embedded").waitFor();
  });

  it("keeps two tabs alike, and the place of a reader who looks at something older", async () => {
    const rounds = Array.from({ length: 60 }, (_, n) => [said(`line ${n}`, { id: `zoe-${n}` })]);
    await session("zoe").addBatch(rounds);
    const address = `${url}${at("/conversations", { user: "zoe", session: "talk", item: "zoe-20" })}`;
    const { page: reader, complaints: readerSays } = await tab(address);
    const { page: writer, complaints: writerSays } = await tab(
      `${url}${at("/conversations", { user: "zoe", session: "talk" })}`,
    );
    const marked = row(reader, "line 20");
    await until(() => isInView(reader, marked));
    const top = async () => (await marked.boundingBox())?.y;
    const before = await top();
    await session("zoe").add([said("news")]);
    await reader.getByRole("button", { name: "1 new message below" }).waitFor();
    expect(await top(), "what the reader looks at stays").toBe(before);
    await row(writer, "news").waitFor();
    await row(writer, "news").getByRole("button", { name: "Edit" }).click();
    await writer.getByRole("dialog").getByLabel("Text").fill("news, corrected");
    await writer.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await reader.getByRole("button", { name: "1 new message below" }).click();
    await row(reader, "news, corrected").waitFor();
    await row(writer, "line 59").getByRole("button", { name: "Delete" }).click();
    await writer.getByRole("dialog").getByRole("button", { name: "Delete the message" }).click();
    await until(async () => (await row(reader, "line 59").count()) === 0);
    const asked: string[] = [];
    reader.on("request", (request) => asked.push(request.url()));
    await session("zoe").forget();
    await reader.getByText("Nothing is stored here").waitFor();
    expect(asked.length, "what is gone is not looked for one by one").toBeLessThan(12);
    expect(readerSays.splice(0).filter((text) => !/status of 404/.test(text))).toEqual([]);
    expect(writerSays.splice(0).filter((text) => !/status of 404/.test(text))).toEqual([]);
  });

  it("offers a read-only key nothing that writes, and the server refuses it", async () => {
    const path = newPath();
    const { server, admin } = await startWithKeys({ path });
    const reader = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    await admin.data("POST /api/v1/messages", {
      query: { user: "ada", session: "talk" },
      body: { messages: [{ role: "user", content: "I like figs.", id: "m1" }] },
    });
    const { page, complaints } = await tab(`${server.url}${at("/conversations", { user: "ada", session: "talk" })}`);
    await page.getByLabel("API key").fill(reader.secret);
    await page.getByRole("button", { name: "Open" }).click();
    await row(page, "I like figs.").waitFor();
    expect(await page.getByRole("button", { name: /Edit|Delete|Forget(?! the key)|Try again/ }).count()).toBe(0);
    const refused = connect(server.url, { key: reader.secret }).session({ user: "ada" });
    await expect(refused.update("m1", { content: "no" })).rejects.toMatchObject({ code: "forbidden" });
    await expect(refused.delete(["m1"])).rejects.toMatchObject({ code: "forbidden" });
    expect(complaints.splice(0).filter((text) => !/status of 401/.test(text))).toEqual([]);
  });

  it("shows hostile text and names as text, and forgets them by the name that is shown", async () => {
    await session(HOSTILE.backwards, HOSTILE.html).add(Object.values(HOSTILE).map((content) => said(content)));
    const scope = { user: HOSTILE.backwards, session: HOSTILE.html };
    const { page } = await tab(`${url}${at("/conversations", scope)}`);
    await row(page, "javascript:").waitFor();
    expect(await page.evaluate("window.pwned")).toBeUndefined();
    expect(await page.locator("main img, main b, main script, main svg[onload]").count()).toBe(0);
    const shown = (await page.locator("main").textContent()) ?? "";
    for (const sign of ["\u001b", "\u0007", "\u202e"]) expect(shown).not.toContain(sign);
    expect(shown).toContain("U+202E");
    await page.getByRole("button", { name: /^Forget user safe/ }).click();
    await page.getByLabel("Name", { exact: true }).fill("safe U+202Egnp.exeU+202C name");
    await page.getByRole("button", { name: "Forget the user" }).click();
    await page.getByText("the entry in the registry").waitFor();
  });

  it("shows names that are blank, long, or of several lines, and forgets them by what is shown", async () => {
    const shown = { "\u200b": "U+200B", "\u3164 ": "U+3164 U+0020", "two\nlines": "twoU+000Alines" };
    for (const user of [...Object.keys(shown), "x".repeat(512)]) await session(user).add([said("Hello.")]);
    const { page } = await tab(`${url}/conversations`);
    for (const [user, name] of Object.entries(shown)) {
      await page.getByRole("link", { name, exact: true }).click();
      expect(new URL(page.url()).searchParams.get("user")).toBe(user);
      await page.getByRole("button", { name: `Forget user ${name}`, exact: true }).click();
      await page.getByLabel("Name", { exact: true }).fill(name);
      await page.getByRole("button", { name: "Forget the user" }).click();
      await page.getByText("the entry in the registry").waitFor();
      await page.getByRole("button", { name: "Close" }).click();
    }
    const long = page.getByRole("link", { name: /^x{60}…$/ });
    expect(await long.getByRole("button").count(), "nothing in a link can be clicked").toBe(0);
    expect((await long.boundingBox())?.height).toBeLessThan(100);
  });

  it("lists the newest sessions first, a page at a time", async () => {
    const { sessions } = connect(url);
    for (let at = 0; at < 150; at++) await sessions.create({ user: "busy" }, `day ${at}`);
    const { page } = await tab(`${url}/conversations?user=busy`);
    const names = page.locator(".talk-sessions .picks").nth(1).getByRole("link");
    await names.first().getByText("day 149").waitFor();
    expect(await names.count()).toBe(100);
    await page.getByRole("button", { name: "Next 100" }).click();
    await names.first().getByText("day 49").waitFor();
    expect(await names.count()).toBe(50);
    await page.goto(url);
    await page.getByRole("link", { name: "day 149" }).waitFor();
  });

  it("went back to the newest message after First, because it read on around the place that it had left", async () => {
    const path = newPath();
    const memory = await openMemory({ path });
    await fill(memory, 2_000);
    await memory.close();
    const { url: large } = await start({ path });
    const { page } = await tab(`${large}${at("/conversations", { user: "max", session: "talk" })}`);
    for (let round = 0; round < 5; round++) {
      await row(page, "message 1999.").waitFor();
      await page.getByRole("region", { name: "Messages" }).hover();
      while ((await firstShown(page)) > 1_400 - 20 * round) await page.mouse.wheel(0, -2_000);
      await page.getByRole("button", { name: "First" }).click();
      await row(page, "message 0.").waitFor();
      await page.getByRole("button", { name: "Newest" }).click();
    }
  });

  it(`scrolls through ${MANY} messages with few rows, few items in memory and small requests`, async () => {
    const path = newPath();
    const memory = await openMemory({ path });
    await fill(memory, MANY);
    await memory.close();
    const { url: large } = await start({ path });
    const { page } = await tab(`${large}${at("/conversations", { user: "max", session: "talk" })}`);
    const limits: number[] = [];
    page.on("request", (request) => {
      const { limit } = (request.postDataJSON() ?? {}) as { readonly limit?: number };
      if (limit !== undefined) limits.push(limit);
    });
    await row(page, `message ${MANY - 1}.`)
      .getByText("by words")
      .waitFor();
    const rows: number[] = [];
    const first = async (): Promise<number> => {
      rows.push(await page.getByRole("article").count());
      return firstShown(page);
    };
    await page.getByRole("region", { name: "Messages" }).hover();
    for (; (await first()) > MANY - 1_500; ) await page.mouse.wheel(0, -2_000);
    await page.getByRole("button", { name: "First" }).click();
    await row(page, "message 0.").waitFor();
    await page.getByRole("region", { name: "Messages" }).hover();
    for (; (await first()) < 1_000; ) await page.mouse.wheel(0, 2_000);
    expect(Math.max(...rows)).toBeLessThanOrEqual(ROWS_MAX);
    expect(limits.length).toBeGreaterThan(10);
    expect(Math.max(...limits)).toBeLessThanOrEqual(LIMIT_MAX);
  });
});

/** The number of the first message that is rendered. */
async function firstShown(page: Page): Promise<number> {
  const texts = await page.getByRole("article").allTextContents();
  return Number(/message (\d+)\./.exec(texts[0] ?? "")?.[1]);
}

/** Whether it is in the part of the list that one sees. */
async function isInView(page: Page, one: Locator): Promise<boolean> {
  const [box, list] = [await one.boundingBox(), await page.getByRole("region", { name: "Messages" }).boundingBox()];
  return box !== null && list !== null && box.y >= list.y && box.y + box.height <= list.y + list.height;
}

async function fill(memory: Memory, count: number): Promise<void> {
  const target = memory.session({ user: "max", session: "talk" });
  for (let n = 0; n < count; n += 2_000) {
    await target.addBatch(
      Array.from({ length: 8 }, (_, part) =>
        Array.from({ length: 250 }, (_, at) => said(`message ${n + part * 250 + at}.`)),
      ),
    );
  }
}

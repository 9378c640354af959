/** The dashboard as a browser sees it: a real server, real pages. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { connect } from "holdfast/client";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";
import { settled } from "./browser.js";
import { HOSTILE, LONG } from "./hostile.js";
import { describeInBrowser, tab } from "./started.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FIRST_LOAD_MAX = 200_000;
const VIEWS = [
  "/",
  "/flow?part=round",
  "/measurements",
  "/search?user=ada&q=movers",
  "/conversations",
  "/conversations?user=ada",
  "/conversations?user=ada&session=moving-house",
  "/blocks?user=ada&block=persona",
  "/blocks?user=ada&tab=facts",
  "/context?user=ada&session=moving-house&q=the+flat",
  ...[
    "/settings",
    "/settings?section=configuration",
    "/settings?section=import",
    "/settings?section=export",
    "/settings?section=upkeep",
  ],
  ...["/docs", "/docs?op=add"],
  "/nowhere",
];

let url: string;

beforeAll(async () => {
  ({ url } = await start());
});

/** With the text of closed details, as a reader who opens them would see it. */
const allText = (page: Page): Promise<string | null> => page.locator("main").textContent();

describe("the dashboard's files", () => {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";

  it("are served to browsers at / and at every view's address, and API clients get JSON", async () => {
    for (const path of ["/", "/search?user=ada", "/no/such/view"]) {
      const page = await fetch(url + path, { headers: { accept } });
      expect([path, page.status, page.headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
      expect(await page.text()).toContain('<div id="app">');
      for (const wanted of ["application/json", "*/*", "application/json, text/html"]) {
        const other = await fetch(url + path, { headers: { accept: wanted } });
        expect([path, wanted, other.status]).toEqual([path, wanted, 404]);
        expect(other.headers.get("content-type")).toBe("application/json; charset=utf-8");
      }
    }
    for (const path of ["/api/v1/none", "/api/v1/stats/none", "/assets/none.js"]) {
      expect((await fetch(url + path, { headers: { accept } })).status, path).toBe(404);
    }
    expect((await fetch(url, { method: "POST", headers: { accept } })).status).toBe(404);
  });

  it("may run nothing inline, load nothing from elsewhere, and not be framed", async () => {
    const page = await fetch(url, { headers: { accept } });
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("cache-control"), "a new version is seen at once").toBe("no-cache");
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=/i);
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
    expect(assets.length).toBeGreaterThan(1);
    for (const path of assets) {
      expect(path).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.(js|css|svg)$/);
      const asset = await fetch(url + path);
      expect(asset.status).toBe(200);
      expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(asset.headers.get("x-content-type-options")).toBe("nosniff");
    }
    const foreign = await fetch(url, { headers: { accept, origin: "https://evil.example.com" } });
    expect(foreign.status).toBe(403);
  });

  it(`take at most ${FIRST_LOAD_MAX / 1000} kB of script for the first load`, async () => {
    const html = readFileSync(join(root, "dist/ui/index.html"), "utf8");
    const scripts = [...html.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map(([, path = ""]) => path);
    expect(scripts.length).toBeGreaterThan(0);
    const largest = readdirSync(join(root, "dist/ui/assets")).filter((name) => name.endsWith(".js"));
    const size = (path: string): number => gzipSync(readFileSync(join(root, "dist/ui", path))).length;
    const all = largest.reduce((sum, name) => sum + size(`assets/${name}`), 0);
    expect(scripts.reduce((sum, path) => sum + size(path), 0)).toBeLessThan(FIRST_LOAD_MAX);
    expect(all, "every view together").toBeLessThan(FIRST_LOAD_MAX);
  });
});

describeInBrowser("the dashboard", () => {
  it("offers a sample to an empty memory, and shows what others add without a reload", async () => {
    const { page } = await tab(url);
    await page.getByRole("button", { name: "Load a sample conversation" }).click();
    await page.getByRole("heading", { name: "Health" }).waitFor();
    await page.getByRole("link", { name: "moving-house" }).waitFor();
    await connect(url)
      .session({ user: "bob", session: "elsewhere" })
      .add([{ role: "user", content: "I like figs." }]);
    await page.getByRole("link", { name: "elsewhere" }).waitFor();
    await page.getByText("Added 1 item").waitFor();
  });

  it("asks a question, shows why each hit was found, and compares two sets of options", async () => {
    const { page } = await tab(`${url}/search`);
    await page.getByText("Whose memory?").waitFor();
    await page.getByRole("combobox", { name: "User" }).fill("ada");
    await page.getByRole("combobox", { name: "User" }).press("Enter");
    await page.getByRole("searchbox", { name: "Question" }).fill("Is Theo allergic to anything?");
    await page.getByRole("button", { name: "Search" }).click();
    const best = page.getByRole("article", { name: "Hit 1", exact: true });
    await best.getByText("allergic to cats").waitFor();
    await best.getByText("Words").waitFor();
    expect(new URL(page.url()).searchParams.get("user")).toBe("ada");
    await page.reload();
    await best.getByText("allergic to cats").waitFor();
    await page.getByLabel("Compare two sets of options").check();
    const right = page.getByRole("region", { name: "Results of the other options" });
    await right.getByRole("article", { name: "Hit 1", exact: true }).waitFor();
    await page.getByLabel("Said by").nth(1).selectOption("assistant");
    await until(async () => !(await right.locator(".badge.accent").allTextContents()).includes("user"));
    expect(await right.textContent()).toContain("I will ask the landlord");
  });

  it("shows the exact prompt, within the budget, in every format", async () => {
    const query = "What about cats?";
    const { page } = await tab(
      `${url}/context?user=ada&session=moving-house&budget=300&q=${encodeURIComponent(query)}`,
    );
    await page.getByRole("heading", { name: "The prompt" }).waitFor();
    await settled(page);
    const session = connect(url).session({ user: "ada", session: "moving-house" });
    const expected = await session.context({ query, budgetTokens: 300, dryRun: true });
    await page.getByRole("button", { name: "Text", exact: true }).click();
    expect(await page.locator(".rendered").textContent()).toBe(`${expected.prefix}\n\n${expected.tail}`);
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${expected.prefix}\n\n${expected.tail}`);
    await page.getByRole("button", { name: "Anthropic" }).click();
    await page.getByText('"cache_control"').waitFor();
    expect(await allText(page)).toContain(`${expected.tokens.total} of 300 tokens`);
    await page.getByRole("button", { name: "Record as given" }).click();
    await page.getByText(/given so far/).waitFor();
    expect((await session.ledger()).entries.length).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.getByText("Nothing has been given").waitFor();
    expect((await session.ledger()).entries).toEqual([]);
  });

  it("shows hostile text as text", async () => {
    const session = connect(url).session({ user: "eve", session: HOSTILE.html });
    await session.add(Object.values(HOSTILE).map((content) => ({ role: "user", content })));
    await session.add([{ role: "user", content: `figs ${LONG}` }]);
    for (const path of ["/", "/search?user=eve&q=bold+red+safe+name+figs", "/context?user=eve&q=bold+red+safe+figs"]) {
      const { page } = await tab(url + path);
      await settled(page);
      expect(await page.evaluate("window.pwned"), path).toBeUndefined();
      expect(await page.locator("main img, main b, main script, main svg").count(), path).toBe(0);
      const shown = await allText(page);
      expect(shown, path).toContain(HOSTILE.html.slice(0, 40));
      if (path === "/") continue;
      for (const sign of ["\u001b", "\u0007", "\u202e"]) expect(shown).not.toContain(sign);
      if (path.startsWith("/search")) expect(shown, "what is hidden is shown by its code").toContain("U+202E");
      expect(shown?.length, "a long text is cut until one asks for more").toBeLessThan(50_000);
    }
  });

  it("opens every page by the keyboard", async () => {
    const { page } = await tab(url);
    await settled(page);
    const commands = page.getByRole("dialog", { name: "Commands" });
    await page.keyboard.press("Control+k");
    await commands.waitFor();
    await page.keyboard.type("prompt");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Context", level: 1 }).waitFor();
    const aim = page.getByLabel("What the next turn is about");
    await aim.waitFor(); // the heading is there before the page's code, and until then "/" opens Search
    await page.keyboard.press("/");
    await page.keyboard.type("x");
    expect(await aim.inputValue()).toBe("x");
    await page.keyboard.press("Control+k");
    await commands.waitFor();
    await page.keyboard.press("Escape");
    await commands.waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "API" }).press("Enter");
    await page.getByRole("heading", { name: "API", level: 1 }).waitFor();
    await until(async () => (await page.evaluate("document.activeElement.id")) === "main"); // where the next Tab goes on
    await page.getByRole("link", { name: "Overview" }).press("Enter");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.keyboard.press("/");
    const question = page.getByRole("searchbox", { name: "Question" });
    await question.waitFor();
    await until(() => question.evaluate((box) => box === box.ownerDocument.activeElement));
  });

  it("has no serious accessibility problem on any page, in either theme, and fits 400 pixels", async () => {
    for (const theme of ["light", "dark"] as const) {
      const { page } = await tab(url, { theme, width: 400 });
      for (const path of VIEWS) {
        await page.goto(url + path);
        await settled(page);
        expect(await page.evaluate("document.documentElement.scrollWidth"), `${path} scrolls sideways`).toBe(400);
        await page.evaluate(AXE);
        const found = (await page.evaluate("axe.run()")) as { violations: readonly Violation[] };
        const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => [path, theme, id, nodes.map(({ html }) => html)])).toEqual([]);
      }
    }
  });

  it("keeps a key for the tab, offers what it may do, and asks again when it is revoked", async () => {
    const path = newPath();
    const spaces = [{ user: "ada" }];
    const [reader, writer] = [
      await makeKey(path, { access: "read", spaces }),
      await makeKey(path, { access: "write", spaces }),
    ];
    const { server: closed, admin } = await startWithKeys({ path });
    await admin.data("POST /api/v1/messages", {
      query: { user: "ada", session: "s" },
      body: { messages: [{ role: "user", content: "I like figs." }] },
    });
    const { page, complaints } = await tab(`${closed.url}/context?user=ada&session=s&q=figs`);
    const open = async (secret: string): Promise<void> => {
      await page.getByLabel("API key").fill(secret);
      await page.getByRole("button", { name: "Open" }).click();
    };
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate("document.activeElement.type"), "one can type at once").toBe("password");
    await open("hf_wrong");
    await page.getByRole("alert").getByText("not valid").waitFor();
    await open(reader.secret);
    await page.getByText("I like figs.").waitFor();
    expect(await page.getByRole("button", { name: "Record as given" }).count()).toBe(0);
    await page.goto(closed.url);
    await page.getByRole("link", { name: "s", exact: true }).waitFor(); // the session that it covers
    await page.goto(`${closed.url}/settings`);
    await page.getByRole("heading", { name: "Not for this key", level: 1 }).waitFor();
    await page.goto(`${closed.url}/context?user=ada&session=s&q=figs`);
    await page.getByText("I like figs.").waitFor();
    expect(page.url()).not.toContain("hf_");
    await page.reload();
    await page.getByText("I like figs.").waitFor();
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("hf_");
    await page.getByRole("button", { name: "Forget the key" }).click();
    await open(writer.secret);
    await page.getByRole("button", { name: "Record as given" }).waitFor();
    await admin.data(`DELETE /api/v1/keys/${writer.id}`);
    await page.getByLabel("What the next turn is about").fill("pears");
    await page.getByText("The key is no longer valid.").waitFor();
    const expected = complaints.splice(0).filter((text) => !/status of 401/.test(text));
    expect(expected).toEqual([]);
  });

  it("says that the server is away, and continues when it is back", async () => {
    const path = newPath();
    const first = await start({ path });
    const { port } = first.server;
    await connect(first.url)
      .session({ user: "ada", session: "before" })
      .add([{ role: "user", content: "one" }]);
    const { page, complaints } = await tab(first.url);
    await page.getByRole("link", { name: "before" }).waitFor();
    await first.server.stop();
    await page.getByText("The server does not answer.").waitFor();
    expect(await page.getByRole("link", { name: "before" }).count(), "what was read stays").toBe(1);
    const again = await start({ path, server: { port } });
    await connect(again.url)
      .session({ user: "ada", session: "after" })
      .add([{ role: "user", content: "two" }]);
    await page.getByRole("link", { name: "after" }).waitFor();
    expect(await page.getByText("The server does not answer.").count()).toBe(0);
    expect(complaints.splice(0).filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(text))).toEqual([]);
  });
});

describeInBrowser("a page that is first opened while the server is away", () => {
  it("opens when the server is back, with its styles", async () => {
    const { url: address, server } = await start();
    const { page, complaints } = await tab(address);
    await settled(page);
    await server.stop();
    await page.getByText("The server does not answer.").waitFor();
    await page.getByRole("link", { name: "Context" }).click();
    await page.getByText("This page could not be loaded").waitFor();
    expect(await page.getByRole("button", { name: "Reload" }).count()).toBe(1);
    await start({ server: { port: server.port } });
    await page.getByRole("form", { name: "The call" }).waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('.composer')).position")).toBe("sticky");
    expect(complaints.splice(0).filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(text))).toEqual([]);
  });
});

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

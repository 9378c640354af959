/** The settings: keys, configuration, import, export, backup and checks, as an admin sees them in a browser. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openMemory } from "holdfast";
import { connect } from "holdfast/client";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { until } from "../support/until.js";
import { settled } from "./browser.js";
import { HOSTILE } from "./hostile.js";
import { describeInBrowser, tab } from "./started.js";

/** Opens a tab with a key. */
async function keyed(address: string, secret: string) {
  const opened = await tab(address);
  await opened.page.getByLabel("API key").fill(secret);
  await opened.page.getByRole("button", { name: "Open" }).click();
  opened.complaints.splice(0); // it has asked without a key first
  return opened;
}

/** Without the browser's picker, which nothing can drive, the file is a download. */
const WITHOUT_PICKER = "delete window.showSaveFilePicker";
/** A picker that gives a file of the page's own: the way of a browser that writes straight to the disk. */
const OWN_PICKER = `window.showSaveFilePicker = async ({ suggestedName }) =>
  (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`;

async function downloaded(page: Page, button: Locator): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

const exportLine = (fields: object): string => `${JSON.stringify(fields)}\n`;

/** An export of so many items in the space of `user`. */
function exportOf(user: string, items: number): string {
  const space = { user };
  const session = HOSTILE.html;
  const rows = Array.from({ length: items }, (_, at) =>
    exportLine({
      ...{ type: "item", id: `i-${at}`, kind: "message", space, session, role: "user", content: `fig ${at}` },
      ...{ occurredAt: 1, recordedAt: 1, version: 1 },
    }),
  );
  const none = { block: 0, fact: 0, superseded: 0, point: 0, promotion: 0 };
  return [
    exportLine({ type: "holdfast", version: 1, exportedAt: 0 }),
    exportLine({ type: "entry", kind: "user", name: user }),
    exportLine({ type: "session", space, name: session }),
    ...rows,
    exportLine({ type: "end", counts: { entry: 1, session: 1, item: items, ...none } }),
  ].join("");
}

describeInBrowser("the settings", () => {
  it("create a key whose secret is shown once and works, and its revocation ends another tab", async () => {
    const { server, admin } = await startWithKeys();
    await admin.data("POST /api/v1/messages", {
      query: { user: "ada", session: "s" },
      body: { messages: [{ role: "user", content: "I like figs." }] },
    });
    const { page } = await keyed(`${server.url}/settings`, admin.secret ?? "");
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill(HOSTILE.html);
    await dialog.getByRole("button", { name: "Read and write" }).click();
    expect(await dialog.getByRole("button", { name: "Create" }).isDisabled(), "it covers nothing yet").toBe(true);
    await dialog.getByLabel("Name of the space").fill("ada");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog", { name: "Copy the secret now" }).waitFor();
    const secret = (await dialog.locator(".secret code").textContent()) ?? "";
    expect(secret).toMatch(/^hf_[0-9a-f]{16}_/);
    await dialog.getByRole("button", { name: "Copy" }).click();
    await dialog.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByText("user ada").waitFor();
    expect(await page.content(), "the secret is gone").not.toContain(secret);
    expect(await page.evaluate("window.pwned")).toBeUndefined();
    expect(await page.locator("main img, main b").count()).toBe(0);

    const other = await keyed(`${server.url}/search?user=ada&q=figs`, secret);
    await other.page.getByRole("article", { name: "Hit 1", exact: true }).getByText("I like figs.").waitFor();
    const row = page.getByRole("row").filter({ hasText: "user ada" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
    expect(await connect(server.url, { key: secret }).caller()).toMatchObject({ access: "write" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("1 revoked or expired").waitFor();
    await other.page.getByRole("button", { name: "Search" }).click();
    await other.page.getByText("The key is no longer valid.").waitFor();
    expect(other.complaints.splice(0).filter((text) => !/status of 401/.test(text))).toEqual([]);
  });

  it("show where each option comes from, and no secret", async () => {
    const path = newPath();
    const config = join(dirname(path), "holdfast.yaml");
    writeFileSync(config, "server:\n  max_requests: 99\nqdrant:\n  api_key: s3cret-qdrant\n");
    const { url } = await start({ path, config, buffer: { closeMs: 1234 } });
    const { page } = await tab(`${url}/settings?section=configuration`);
    await settled(page);
    const rowOf = async (group: string, name: string) => {
      const body = page.locator("tbody").filter({ has: page.getByRole("rowheader", { name: group, exact: true }) });
      const row = body.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
      return (await row.getByRole("cell").allTextContents()).map((text) => text.trim());
    };
    expect(await rowOf("server", "max_requests")).toEqual(["max_requests", "99 default: 512", `${config}, line 2`]);
    expect(await rowOf("qdrant", "api_key")).toEqual(["api_key", "set, not shown", `${config}, line 4`]);
    expect(await rowOf("buffer", "close_ms")).toEqual(["close_ms", "1234 1.234 s default: 5000", "code or flag"]);
    expect(await rowOf("embedding", "batch_size")).toEqual(["batch_size", "64", "default"]);
    expect(await page.content()).not.toContain("s3cret");
    await page.getByRole("button", { name: "Changed" }).click();
    await page.getByText("batch_size").waitFor({ state: "detached" });
    await page.getByLabel("Filter options").fill("requests");
    await page.getByText("close_ms").waitFor({ state: "detached" });
    expect(await rowOf("server", "max_requests")).toHaveLength(3);
    expect(new URL(page.url()).searchParams.get("q")).toBe("requests");
  });

  it("import a file with progress and a report, once, and show hostile names as text", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/settings?section=import`);
    const items = 4_000;
    await page.getByLabel("File").setInputFiles({
      name: "memory.jsonl",
      mimeType: "application/x-ndjson",
      buffer: Buffer.from(exportOf("eve", items)),
    });
    await page.evaluate(`window.told = []; new MutationObserver(() => {
      const words = document.querySelector(".job")?.textContent;
      if (words) window.told.push(words);
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByRole("heading", { name: "Imported" }).waitFor();
    const told = (await page.evaluate("window.told")) as readonly string[];
    expect(told.length, "progress is shown").toBeGreaterThan(0);
    const report = page.locator(".report");
    expect(await report.textContent()).toContain(`Items${items.toLocaleString("en")}`);
    expect(await report.textContent()).toContain(`Lines read${(items + 4).toLocaleString("en")}`);
    await page.getByRole("button", { name: "Import" }).click();
    await until(async () =>
      ((await report.textContent()) ?? "").includes(`Already there${(items + 2).toLocaleString("en")}`),
    );
    await page.goto(`${url}/`);
    await page.getByText(HOSTILE.html.slice(0, 30)).first().waitFor();
    expect(await page.evaluate("window.pwned")).toBeUndefined();
  });

  it("show how far an import is, also after a look at another page, and cancel it", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/settings?section=import`);
    let id = "";
    // The server takes its time, for as long as the test needs.
    await page.route("**/api/v1/import?*", (route) => {
      id = new URL(route.request().url()).searchParams.get("id") ?? "";
    });
    const report = { entries: 0, sessions: 1, blocks: 0, facts: 0, superseded: 0, points: 0, promotions: 0 };
    await page.route("**/api/v1/imports", (route) =>
      route.fulfill({
        json: {
          ...{ status: "success", code: 200, message: "OK", errors: null },
          data: {
            imports: [{ id, bytes: 500, lines: 12, items: 11, ...report, repeated: 0, conflicts: 0, skipped: 0 }],
          },
        },
      }),
    );
    const buffer = Buffer.from("x".repeat(1000));
    await page.getByLabel("File").setInputFiles({ name: "memory.jsonl", mimeType: "text/plain", buffer });
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText("12 lines, 11 items, 500 bytes of 1000 bytes").waitFor();
    expect(await page.getByRole("progressbar", { name: "Import" }).getAttribute("value")).toBe("0.5");
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Import", exact: true }).click();
    await page.getByText("12 lines, 11 items").waitFor();
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("/import?"));
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled. What was imported until then stays").waitFor();
    expect((await failed).failure()?.errorText).toContain("ABORTED");
  });

  it("say that the server went away during an import, and leave its address as it is", async () => {
    const { url } = await start();
    const { page, complaints } = await tab(`${url}/settings?section=import`);
    await page.route("**/api/v1/import?*", (route) => route.abort("connectionreset"));
    const buffer = Buffer.from(exportOf("eve", 1));
    await page.getByLabel("File").setInputFiles({ name: "memory.jsonl", mimeType: "text/plain", buffer });
    await page.getByRole("button", { name: "Import" }).click();
    await until(async () => (await page.getByRole("alert").allTextContents()).some((text) => text.startsWith(url)));
    expect(complaints.splice(0).filter((text) => !text.includes("ERR_CONNECTION_RESET"))).toEqual([]);
  });

  it("say which line of an import is wrong, and what was imported before it", async () => {
    const { url } = await start();
    const { page, complaints } = await tab(`${url}/settings?section=import&user=ada`);
    const plain = `{"role":"user","content":"one"}\n{"role":"nobody","content":"two"}\n`;
    await page
      .getByLabel("File")
      .setInputFiles({ name: "chat.jsonl", mimeType: "text/plain", buffer: Buffer.from(plain) });
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByRole("alert").getByText("Line 2").waitFor();
    await page.getByRole("heading", { name: "Imported before that" }).waitFor();
    const { items } = await connect(url).session({ user: "ada" }).list();
    expect(items.map(({ content }) => content)).toEqual(["one"]);
    expect(complaints.splice(0).filter((text) => !/status of 422/.test(text))).toEqual([]);
  });

  it("export everything, as a download or straight to a file, and it can be imported again", async () => {
    const { url } = await start();
    await connect(url)
      .session({ user: "ada", session: "s" })
      .add([{ id: "m1", role: "user", content: "I like figs." }]);
    const { page } = await tab(url);
    await page.addInitScript(WITHOUT_PICKER);
    await page.goto(`${url}/settings?section=export`);
    const button = page.getByRole("button", { name: "Export everything" });
    const { name, bytes } = await downloaded(page, button);
    expect(name).toMatch(/^holdfast-.*\.jsonl$/);
    await page.getByText(`${bytes.toString().split("\n").length - 1} lines`).waitFor();
    const other = await start();
    await connect(other.url).import(new Blob([new Uint8Array(bytes)]));
    expect(await connect(other.url).session({ user: "ada", session: "s" }).get(["m1"])).toMatchObject([
      { content: "I like figs." },
    ]);

    const { page: writing } = await tab(url);
    await writing.addInitScript(OWN_PICKER);
    await writing.goto(`${url}/settings?section=export`);
    await writing.getByRole("button", { name: "Export everything" }).click();
    await writing.getByText(/\d+ lines/).waitFor();
    const written = await writing.evaluate(`(async () => {
      const folder = await navigator.storage.getDirectory();
      for await (const handle of folder.values()) return (await handle.getFile()).text();
    })()`);
    const body = (text: string): string => text.split("\n").slice(1).join("\n");
    expect(body(String(written))).toBe(body(bytes.toString()));
  });

  it("download a backup that opens as the memory it was", async () => {
    const path = newPath();
    const { url } = await start({ path });
    await connect(url)
      .session({ user: "ada", session: "s" })
      .add([{ id: "m1", role: "user", content: "I like figs." }]);
    const { page } = await tab(url);
    await page.addInitScript(WITHOUT_PICKER);
    await page.goto(`${url}/settings?section=upkeep`);
    const { bytes } = await downloaded(page, page.getByRole("button", { name: "Download a backup" }));
    await page.getByText(/checked\. Restore it/).waitFor();
    const copy = newPath();
    writeFileSync(copy, bytes, { mode: 0o600 });
    const memory = await openMemory(copy);
    expect(await memory.session({ user: "ada", session: "s" }).get(["m1"])).toMatchObject([
      { content: "I like figs." },
    ]);
    await memory.close();
  });

  it("check the file, and say what is wrong where nothing can be checked", async () => {
    const { url } = await start({ path: newPath() });
    const { page } = await tab(`${url}/settings?section=upkeep`);
    await page.getByRole("button", { name: "Check everything" }).click();
    await page.getByRole("cell", { name: "integrity", exact: true }).waitFor();
    await page.getByText("holdfast reindex --model").waitFor();
    const inMemory = await start();
    const other = await tab(`${inMemory.url}/settings?section=upkeep`);
    await other.page.getByRole("button", { name: "Check the file" }).click();
    await other.page.getByRole("alert").getByText("There is no file to check").waitFor();
    expect(other.complaints.splice(0).filter((text) => !/status of 501/.test(text))).toEqual([]);
  });

  it("are not offered to a key that is no admin's, and the server refuses what they do", async () => {
    const { path, server, anyone } = await startWithKeys();
    const reader = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    const { page, complaints } = await keyed(`${server.url}/settings`, reader.secret);
    await page.getByText("This key does not open this page").waitFor();
    expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0);
    const statusOf = async (method: string, route: string, headers = {}, body?: string): Promise<unknown> =>
      page.evaluate(
        `fetch(${JSON.stringify(route)}, {
          method: ${JSON.stringify(method)},
          headers: { authorization: "Bearer ${reader.secret}", "content-type": "application/json", ...${JSON.stringify(headers)} },
          ${body === undefined ? "" : `body: ${JSON.stringify(body)},`}
        }).then(({ status }) => status)`,
      );
    const key = JSON.stringify({ access: "read", spaces: [{ user: "ada" }] });
    expect(await statusOf("POST", "/api/v1/keys", {}, key)).toBe(403);
    for (const route of ["config", "doctor", "backup", "keys", "export"]) {
      expect(await statusOf("GET", `/api/v1/${route}`), route).toBe(403);
    }
    const headers = { origin: "https://evil.example.com" };
    const foreign = await anyone.as(reader.secret).send("POST /api/v1/messages", {
      query: { user: "ada" },
      headers,
      body: { messages: [{ role: "user", content: "mine" }] },
    });
    expect([foreign.status, foreign.json?.message]).toEqual([403, "cross-origin requests are not allowed"]);
    expect(complaints.splice(0).filter((text) => !/status of 403/.test(text))).toEqual([]);
  });
});

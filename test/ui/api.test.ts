/** The page of the API, in a browser: to read, and to try. */
import { connect } from "holdfast/client";
import { expect, it } from "vitest";
import { makeKey, start, startWithKeys } from "../server/started.js";
import { seriousProblems } from "./axe.js";
import { settled } from "./browser.js";
import { describeInBrowser, tab } from "./started.js";

describeInBrowser("the API page", () => {
  it("lists every operation, finds one by a word of it, and folds the dialect away", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/docs`);
    await settled(page);
    const index = page.getByRole("navigation", { name: "Operations" });
    const described = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: { [path: string]: object } };
    const count = Object.values(described.paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
    expect(await index.locator("a").count()).toBe(count);
    expect(await index.locator("details", { hasText: "MemFuse" }).getAttribute("open")).toBeNull();
    await index.getByLabel("Filter operations").fill("typing");
    await index.locator("a", { hasText: "/messages" }).first().waitFor({ state: "detached" });
    await index.getByRole("link", { name: "POST /query/anticipate" }).click();
    await page.getByRole("heading", { name: "POST /api/v1/query/anticipate" }).waitFor();
    expect(new URL(page.url()).searchParams.get("op")).toBe("anticipate");
    await page.goBack();
    await page.getByRole("heading", { name: "Choose an operation" }).waitFor();
  });

  it("writes out the fields of a body and a response, also nested ones, and gives code with real values", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/docs?op=add`);
    const body = page.getByRole("region", { name: "Request body" });
    await body.getByText("list of NewMessage").waitFor();
    await body.getByText("Fields of messages").click();
    await body.getByText("occurredAt", { exact: true }).waitFor();
    expect(await body.textContent()).not.toContain("$ref");
    const answer = page.getByRole("region", { name: "Response, 201" });
    await answer.getByText("repeated", { exact: true }).waitFor();
    const code = page.getByRole("region", { name: "Code" });
    expect(await code.locator("pre").textContent()).toContain(`curl '${url}/api/v1/messages?user=ada&session=monday'`);
    await code.getByRole("button", { name: "holdfast/client" }).click();
    await code.getByText("await session.add(").waitFor();
    await page.goto(`${url}/docs?op=listFacts`);
    await page.getByText("Fields of items").waitFor();
  });

  it("tries a read and a write, and says which of them writes", async () => {
    const { url } = await start();
    const { page, complaints } = await tab(`${url}/docs?op=add`);
    const form = page.getByRole("form", { name: "Try it" });
    await form.getByText("writes to this memory").waitFor();
    await form.getByLabel("user", { exact: true }).fill("bob");
    await form.getByLabel("Body").fill('{"messages":[{"id":"b1","role":"user","content":"I like <b>figs</b>."}]}');
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("201 Created").waitFor();
    expect(await connect(url).session({ user: "bob", session: "monday" }).get(["b1"])).toHaveLength(1);
    await page.goto(`${url}/docs?op=query`);
    expect(await form.getByText("writes to this memory").count()).toBe(0);
    await form.getByLabel("user", { exact: true }).fill("bob");
    await form.getByLabel("Body").fill('{"query":"figs"}');
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("200 OK").waitFor();
    expect(await form.locator(".code").textContent()).toContain("I like <b>figs</b>.");
    expect(await page.locator("main .code b").count()).toBe(0);
    await form.getByLabel("Body").fill('{"query":5}');
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("422 Unprocessable").waitFor();
    expect(complaints.splice(0).filter((text) => !/status of 422/.test(text))).toEqual([]);
  });

  it("asks before it forgets something", async () => {
    const { url } = await start();
    const session = connect(url).session({ user: "ada", session: "monday" });
    await session.add([{ id: "m1", role: "user", content: "I like figs." }]);
    const { page } = await tab(`${url}/docs?op=forget`);
    const form = page.getByRole("form", { name: "Try it" });
    const asked = page.getByRole("dialog", { name: "Send it?" });
    await form.getByRole("button", { name: "Send", exact: true }).click();
    await asked.getByText("DELETE /api/v1/memory?user=ada&session=monday").waitFor();
    await asked.getByRole("button", { name: "Keep" }).click();
    await asked.waitFor({ state: "detached" });
    expect(await session.get(["m1"])).toHaveLength(1);
    await form.getByRole("button", { name: "Send", exact: true }).click();
    await asked.getByRole("button", { name: "Send" }).click();
    await form.getByText("200 OK").waitFor();
    expect(await session.get(["m1"])).toHaveLength(0);
  });

  it("shows what arrives of an event stream", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/docs?op=events`);
    const form = page.getByRole("form", { name: "Try it" });
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByRole("button", { name: "Receiving…" }).waitFor();
    await connect(url)
      .session({ user: "ada", session: "live" })
      .add([{ role: "user", content: "figs" }]);
    await form.getByText('"session":"live"').waitFor();
    expect(await form.getByRole("button", { name: "Receiving…" }).count(), "shown while it arrives").toBe(1);
    await form.getByText(/, and more/).waitFor();
  });

  it("scrolls a long response by the keyboard", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/docs?op=stats`);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("200 OK").waitFor();
    expect(await seriousProblems(page)).toEqual([]);
  });

  it("sends with the key of the tab, and offers nothing that it may not do", async () => {
    const { path, server } = await startWithKeys();
    const { secret } = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    const { page, complaints } = await tab(`${server.url}/docs?op=caller`);
    await page.getByLabel("API key").fill(secret);
    await page.getByRole("button", { name: "Open" }).click();
    const form = page.getByRole("form", { name: "Try it" });
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText('"access": "read"').waitFor();
    await page.goto(`${server.url}/docs?op=add`);
    await form.getByText("It needs a key with write access.").waitFor();
    expect(await form.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    expect(await page.content(), "no secret in the code").not.toContain(secret);
    expect(complaints.splice(0).filter((text) => !/status of 401/.test(text))).toEqual([]);
  });

  it("is usable on a phone: the index is one field", async () => {
    const { url } = await start();
    const { page } = await tab(`${url}/docs`, { width: 400 });
    await settled(page);
    expect(await page.locator(".api-groups").isVisible()).toBe(false);
    await page.getByLabel("Operation", { exact: true }).selectOption("query");
    await page.getByRole("heading", { name: "POST /api/v1/query" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  });
});

/** The Flow page: the buffers of a real server, drawn as they are. */
import { connect, type RemoteMemory } from "holdfast/client";
import { beforeAll, expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "../server/started.js";
import { HashEmbedder } from "../support/product.js";
import { seriousProblems } from "./axe.js";
import { settled } from "./browser.js";
import { HOSTILE } from "./hostile.js";
import { describeInBrowser, tab } from "./started.js";

const ADA = { user: "ada", session: "evening" };
const buffer = { roundBuffer: { eager: false, maxSize: 3, maxTokens: 700 }, hybridBuffer: { maxSize: 4 } };

let url: string;
let memory: RemoteMemory;

beforeAll(async () => {
  ({ url } = await start({ embedder: new HashEmbedder(), buffer }));
  memory = connect(url);
});

const say = (content: string) => [{ role: "user", content }] as const;

describeInBrowser("the Flow page", () => {
  it("shows what gathers towards the thresholds in force, and what moves, with its reason, without a reload", async () => {
    const { page } = await tab(`${url}/flow`);
    const part = (name: string) => page.getByRole("button", { name: new RegExp(`^${name}`) });
    await part("RoundBuffer").getByText("nothing waits").waitFor();
    const session = memory.session(ADA);
    await session.add(say("a lamp"));
    await part("RoundBuffer").getByText("1 / 3").waitFor();
    await part("RoundBuffer")
      .getByText(/\d+ \/ 700/)
      .waitFor();
    await part("RoundBuffer")
      .getByText(/oldest waits/)
      .waitFor();
    await session.add(say("a rope"));
    await session.add(say("a key"));
    const wires = page.locator(".wire-words");
    await wires.filter({ hasText: "3 items" }).filter({ hasText: "rounds" }).waitFor();
    await part("HybridBuffer").getByText("3 / 4").waitFor();
    await part("Store").getByText("0 / 3").waitFor();
    await memory.flush();
    await wires.filter({ hasText: "3 items" }).filter({ hasText: "manual" }).waitFor();
    await part("Store").getByText("3 / 3").waitFor();
    await session.query("lamp");
    await session.query("lamp");
    await part("Answers").getByText("50 %").waitFor();
    await part("Search").getByText("Store, L3").waitFor();
  });

  it("shows what a part holds when it is chosen, by mouse or keyboard, and keeps the choice in the URL", async () => {
    const session = memory.session({ user: "bob", session: HOSTILE.html });
    await session.add(say("a boat"));
    const { page } = await tab(`${url}/flow`);
    await page.getByRole("button", { name: /^RoundBuffer/ }).press("Enter");
    const details = page.getByRole("region", { name: "RoundBuffer: details" });
    await details.getByText("at 3 rounds").waitFor();
    await details.getByText("above 700 tokens").waitFor();
    const row = details.getByRole("row").filter({ hasText: "user bob" });
    await row.getByText("gathering").waitFor();
    expect(await row.textContent(), "a name is text").toContain(HOSTILE.html);
    expect(await seriousProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 400, height: 900 });
    expect(await page.evaluate("document.documentElement.scrollWidth"), "it fits 400 pixels").toBe(400);
    expect(new URL(page.url()).searchParams.get("part")).toBe("round");
    await page.reload();
    await details.waitFor();
    await details.getByRole("button", { name: "Close" }).click();
    await details.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.id"), "the focus returns").toBe("part-round");
    await page.getByRole("button", { name: /^Search/ }).click();
    await page.getByRole("region", { name: "Search: details" }).getByText("Searches of their own").waitFor();
    await page.goBack();
    await page.getByRole("region", { name: "Search: details" }).waitFor({ state: "hidden" });
    await memory.flush();
  });

  it("lists what became of the guesses of each predictor", async () => {
    const { page } = await tab(`${url}/flow`);
    const table = page.getByRole("region", { name: "Predictors" });
    await settled(page);
    for (const name of ["Next line", "Stride", "Correlation", "Topic", "Opening", "Anticipate"]) {
      await table.getByRole("rowheader", { name }).waitFor();
    }
    expect(await table.getByText("throttled").count()).toBeGreaterThan(0);
  });

  it("draws what there is: no embedding without a model, and no guesses if speculation is off", async () => {
    const words = { hybridBuffer: { embeddingModel: "none" }, speculative: { maxSize: 0 } };
    const plain = await start({ buffer: words });
    const { page } = await tab(`${plain.url}/flow`);
    await page.getByText("no model: words only").waitFor();
    await page.getByText("turned off").waitFor();
    expect(await page.getByRole("button", { name: /^RoundBuffer/ }).count()).toBe(0);
  });

  it("does not move for those who want no motion", async () => {
    const { page } = await tab(`${url}/flow`);
    await settled(page);
    await memory.session(ADA).add(say("a bell"));
    await page.locator(".wire-dot").first().waitFor({ state: "attached" });
    const motion = () => page.evaluate("getComputedStyle(document.querySelector('.wire-dot')).animationName");
    expect(await motion()).toBe("none");
    await page.emulateMedia({ reducedMotion: "no-preference" });
    expect(await motion()).toBe("travel");
    await memory.flush();
  });

  it("is offered to admins only", async () => {
    const path = newPath();
    const writer = await makeKey(path, { access: "write", spaces: ["user"] });
    const { server } = await startWithKeys({ path });
    const { page, complaints } = await tab(`${server.url}/flow`);
    await page.getByLabel("API key").fill(writer.secret);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("This key does not open this page").waitFor();
    for (const name of ["Flow", "Metrics"]) expect(await page.getByRole("link", { name }).count(), name).toBe(0);
    expect(complaints.splice(0).filter((text) => !/status of 401/.test(text))).toEqual([]);
  });
});

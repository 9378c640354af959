/** Counting tokens in the package's real thread. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { FakeClock } from "holdfast/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { TokenCounter } from "../../build/lib/tokens/counter.js";
import type { Encoding } from "../../build/lib/tokens/encoding.js";
import type { CountingThread, IDLE_MS } from "../../build/lib/tokens/thread.js";
import { root } from "../support/root.js";

const part = async (name: string): Promise<unknown> => import(urlOf(name));
const urlOf = (name: string): string => pathToFileURL(join(root, "build/lib/tokens", `${name}.js`)).href;

const product = {
  ...((await part("counter")) as { TokenCounter: typeof TokenCounter }),
  ...((await part("encoding")) as { Encoding: typeof Encoding }),
  ...((await part("thread")) as { CountingThread: typeof CountingThread; IDLE_MS: typeof IDLE_MS }),
};

const opened: TokenCounter[] = [];
function counterOf(model: string, clock?: FakeClock): TokenCounter {
  const counter = new product.TokenCounter(model, clock);
  opened.push(counter);
  return counter;
}

/** Whether the thread of gpt-4o's encoding runs; becomes a user of it only for the check. */
async function isRunning(): Promise<boolean> {
  const thread = product.CountingThread.acquire("o200k_base");
  const { isRunning } = thread;
  await thread.release();
  return isRunning;
}

describe("a token counter", () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((counter) => counter.close()));
  });

  it("counts as its model does, each text separately, in order", async () => {
    const texts = ["I moved to Lisbon in May.", "", "我五月搬到了里斯本。", "<|endoftext|>"];
    for (const [model, name] of [
      ["gpt-4o-mini", "o200k_base"],
      ["text-embedding-3-small", "cl100k_base"],
    ] as const) {
      const encoding = await product.Encoding.load(name);
      expect(await counterOf(model).count(texts)).toEqual(encoding.count(texts));
    }
  });

  it("refuses an unknown model", () => {
    expect(() => counterOf("unheard-of")).toThrow(expect.objectContaining({ code: "config" }));
  });

  it("starts no thread before there is a text to count", async () => {
    const counter = counterOf("gpt-4o-mini");
    expect(await counter.count([])).toEqual([]);
    expect(await isRunning()).toBe(false);
    await counter.count(["now"]);
    expect(await isRunning()).toBe(true);
  });

  it("shares the thread with others, until the last of them is closed", async () => {
    const [first, second] = [counterOf("gpt-4o-mini"), counterOf("gpt-5")];
    await first.count(["one"]);
    await first.close();
    expect(await isRunning()).toBe(true);
    expect(await second.count(["two three"])).toEqual([2]);
    await second.close();
    expect(await isRunning()).toBe(false);
  });

  it("is closed once: a second close does not affect others", async () => {
    const [first, second] = [counterOf("gpt-4o-mini"), counterOf("gpt-4o-mini")];
    await second.count(["one"]);
    await Promise.all([first.close(), first.close()]);
    await first.close();
    expect(await isRunning()).toBe(true);
  });

  it("lets pending counts finish on close, and accepts none afterwards", async () => {
    const counter = counterOf("gpt-4o-mini");
    const counting = counter.count(["under way"]);
    const closing = counter.close();
    await expect(counter.count(["late"])).rejects.toMatchObject({ code: "closed" });
    expect(await counting).toEqual([2]);
    await closing;
  });

  it("ends the thread when it has been idle for a minute, and starts another when needed", async () => {
    const clock = new FakeClock();
    const counter = counterOf("gpt-4o-mini", clock);
    await counter.count(["one"]);
    clock.advance(product.IDLE_MS - 1);
    expect(await counter.count(["two"])).toEqual([1]);
    clock.advance(product.IDLE_MS - 1);
    expect(await isRunning()).toBe(true);
    clock.advance(1);
    expect(await isRunning()).toBe(false);
    expect(await counter.count(["three"])).toEqual([1]);
  });

  it("rejects pending counts when the thread dies, and starts another for the next call", async () => {
    const counter = counterOf("gpt-4o-mini");
    // Not a text: the thread throws, as it would when out of memory.
    const poison = counter.count([7 as unknown as string]);
    const bystander = counter.count(["behind it"]);
    await expect(poison).rejects.toMatchObject({ code: "embedder_failed" });
    await expect(bystander).rejects.toMatchObject({ code: "embedder_failed" });
    expect(await counter.count(["next"])).toEqual([1]);
  });

  it("does not block the event loop while it loads and counts", async () => {
    let turns = 0;
    let counting = true;
    const turn = (): void => {
      turns++;
      if (counting) setImmediate(turn);
    };
    turn();
    await counterOf("gpt-4o-mini").count(["漢".repeat(50_000)]);
    counting = false;
    expect(turns).toBeGreaterThan(100);
  });

  it("does not keep a process alive that has its counts but has not closed it", async () => {
    const program = `
      import { TokenCounter } from ${JSON.stringify(urlOf("counter"))};
      console.log(await new TokenCounter("gpt-4o-mini").count(["two words"]));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout.trim()).toBe("[ 2 ]");
  });
});

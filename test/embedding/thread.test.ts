/** The embedding thread: when it starts and ends, how it is shared, and what happens when it dies. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { root } from "../support/root.js";
import { MINILM_URL, MiniLmEmbedder, type MiniLmOptions } from "./product.js";
import { threads } from "./threads.js";

const run = promisify(execFile);
const MODEL = join(root, "models/all-MiniLM-L6-v2-q8");
const opened: MiniLmEmbedder[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedder) => embedder.close()));
  threads.splice(0);
});

function open(options?: MiniLmOptions): MiniLmEmbedder {
  const embedder = new MiniLmEmbedder(options);
  opened.push(embedder);
  return embedder;
}

const isRunning = (thread: Worker | undefined): boolean => thread !== undefined && thread.threadId > 0;

/** What a program prints, and that it ends well by itself. */
async function outputOf(code: string): Promise<string> {
  const program = `import { MiniLmEmbedder } from ${JSON.stringify(MINILM_URL)}; ${code}`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { timeout: 300_000 });
  return stdout.trim();
}

describe("the embedding thread", () => {
  it("is started by the first call, not before, and is native if that can be loaded", async () => {
    const embedder = open();
    await embedder.embed([]);
    await new Promise((resolve) => setImmediate(resolve)); // a started thread is reported in the next turn
    expect(threads).toHaveLength(0);
    expect(await embedder.describe()).toEqual({
      space: { model: "all-MiniLM-L6-v2", runtime: "onnx-int8", dimensions: 384 },
      tokensMax: 256,
      sliceBytes: 4_096,
      loaded: "node",
    });
    expect(threads).toHaveLength(1);
  });

  it("is shared by all embedders of a process, ends when the last is closed, and is started again after that", async () => {
    const [one, other, unused] = [open(), open(), open()];
    const [[first], [second]] = await Promise.all([one.embed(["the same"]), other.embed(["the same"])]);
    expect(first).toEqual(second);
    await unused.close();
    await one.close();
    expect(await other.embed(["still there"])).toHaveLength(1);
    expect(threads.map(isRunning)).toEqual([true]);
    await other.close();
    expect(threads.map(isRunning)).toEqual([false]);
    expect(await open().embed(["again"])).toHaveLength(1);
    expect(threads.map(isRunning)).toEqual([false, true]);
  });

  it("rejects pending calls of an embedder that is closed, and answers those of the others", async () => {
    const [one, other] = [open(), open()];
    const refused = one.embed(Array.from({ length: 100 }, (_, at) => `text ${at}`));
    const answered = other.embed(["mine"]);
    const closing = one.close();
    await expect(refused).rejects.toMatchObject({ code: "closed" });
    await closing;
    expect(await answered).toHaveLength(1);
  });

  it("does not outlive a close that comes while it loads", async () => {
    const embedder = open();
    const refused = embedder.describe();
    const closing = embedder.close();
    await expect(refused).rejects.toMatchObject({ code: "closed" });
    await closing;
    expect(threads.map(isRunning)).toEqual([false]);
  });

  it("that dies fails the pending calls, and the next call starts another", async () => {
    const embedder = open();
    const lost = [embedder.embed(["one", "two"]), embedder.countTokens(["one"]), embedder.describe()];
    const failures = Promise.allSettled(lost);
    const [thread] = (await once(process, "worker")) as [Worker];
    thread.once("online", () => thread.terminate());
    for (const outcome of await failures) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { code: "embedder_failed", retryable: true, hint: expect.stringContaining("repeat") },
      });
    }
    expect(await embedder.embed(["one"])).toHaveLength(1);
    expect(threads.map(isRunning)).toEqual([false, true]);
  });

  it("that dies while idle is not missed: the next call starts another", async () => {
    const embedder = open();
    const before = await embedder.embed(["one"]);
    await threads[0]?.terminate();
    expect(await embedder.embed(["one"])).toEqual(before);
    expect(threads.map(isRunning)).toEqual([false, true]);
  });

  it("stops computing for a call that was aborted", async () => {
    const embedder = open();
    await embedder.describe();
    const texts = Array.from({ length: 10_000 }, (_, at) => `a text of some words, number ${at}`);
    const controller = new AbortController();
    const aborted = embedder.embed(texts, { signal: controller.signal });
    await embedder.embed(["in the midst of it"], { urgent: true });
    controller.abort();
    await expect(aborted).rejects.toThrow("aborted");
    let isNext = false;
    const next = embedder.embed(["next"]).then(() => {
      isNext = true;
    });
    // An urgent text may be let through before each other one: how often that happens before "next" depends on how the
    // threads are scheduled. Behind 10,000 texts there would be room for thousands of them.
    let others = 0;
    for (; !isNext; others++) await embedder.embed(["meanwhile"], { urgent: true });
    await next;
    expect(others).toBeLessThan(500);
  });
});

describe("a model that cannot be loaded", () => {
  it("is refused with the file's name; once the file is right, the next call works", () =>
    inFolder(async (modelFolder) => {
      const network = "onnx/model_quantized.onnx";
      cpSync(MODEL, modelFolder, { recursive: true });
      writeFileSync(join(modelFolder, network), "not a model");
      const embedder = open({ modelFolder });
      const failure = { code: "embedder_failed", details: { file: network } };
      await expect(embedder.embed(["one"])).rejects.toMatchObject(failure);
      await expect(embedder.describe()).rejects.toMatchObject({ ...failure, hint: expect.stringContaining("install") });
      copyFileSync(join(MODEL, network), join(modelFolder, network));
      expect(await embedder.embed(["one"])).toHaveLength(1);
    }));

  it("is refused if its folder is empty", () =>
    inFolder(async (modelFolder) => {
      const refused = open({ modelFolder, runtime: "web" }).countTokens(["one"]);
      const failure = { code: "embedder_failed", message: expect.stringContaining("ENOENT") };
      await expect(refused).rejects.toMatchObject(failure);
    }));
});

describe("a program", () => {
  it("that does not close its embedder ends by itself", async () => {
    const code = 'const [vector] = await new MiniLmEmbedder().embed(["one"]); console.log(vector.length);';
    expect(await outputOf(code)).toBe("384");
  });

  it.each([1, 4])("that exits while a text is computed, after answer %s, ends with its own code", async (turn) => {
    // Without the gate, onnxruntime-node aborts the process at these exits.
    const code = `
      const embedder = new MiniLmEmbedder({ runtime: "node" });
      await embedder.describe();
      for (let at = 1; at <= 20; at++) {
        embedder.embed(["a text of some length ".repeat(30)]).then(() => {
          if (at !== ${turn}) return;
          for (const until = performance.now() + 5; performance.now() < until; ); // the next text takes longer
          console.log("leaving");
          process.exit(0);
        });
      }`;
    expect(await outputOf(code)).toBe("leaving");
  });

  it("that exits while the model is loaded ends with its own code", async () => {
    const code = `
      process.on("worker", (thread) => thread.on("online", () => { console.log("leaving"); process.exit(0); }));
      new MiniLmEmbedder({ runtime: "node" }).describe();`;
    expect(await outputOf(code)).toBe("leaving");
  });
});

/** A reindex whose process is killed is taken up by the next one, and nothing that was embedded is embedded again. */
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newPath, open } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import type { Told } from "./reindexer-process.js";
import { vectorRows } from "./vector-tables.js";

const ADA = { user: "ada", session: "s" };
const COUNT = 600;
const REINDEXER = new URL("./reindexer-process.js", import.meta.url);

describe("a reindex that is killed", () => {
  it("is taken up where it ended, while a process with the old model serves", async () => {
    const path = newPath();
    const old = await open({ path, embedder: new HashEmbedder() });
    const messages = Array.from({ length: COUNT }, (_, at) => ({ role: "user" as const, content: `word${at}` }));
    await old.session(ADA).add(messages);
    await old.flush();

    const told: Told[] = [];
    let hangs = (): void => {};
    const hanging = new Promise<void>((resolve) => {
      hangs = resolve;
    });
    const child = new Child<never, Told>(REINDEXER, [path, "new", "3"], (report) => {
      told.push(report);
      if ("hangs" in report) hangs();
    });
    await Promise.race([hanging, child.ended]);
    const hits = await old.session(ADA).query("word7 word8");
    expect([hits.degraded, hits.partial, hits.length > 1]).toEqual([undefined, false, true]);
    child.kill();
    expect(await child.ended).toMatchObject({ signal: "SIGKILL" });
    expect(told).toEqual([{ texts: 128 }, { embedded: 128 }, { texts: 128 }, { embedded: 256 }, { hangs: true }]);
    expect(vectorRows(path)).toEqual({ "hash-of-words": COUNT, new: 256 });

    const embedder = new HashEmbedder({ model: "new" });
    const next = await open({ path });
    expect(await next.reindex({ embedder })).toMatchObject({ embedded: COUNT - 256, switched: true });
    expect(embedder.texts, "nothing twice").toBe(COUNT - 256);
    expect(vectorRows(path)).toEqual({ new: COUNT });
    expect((await old.session(ADA).query("word7")).degraded).toContain("new");
    await Promise.all([old.close(), next.close()]);
    const audit = await auditVectors(path, "message", 0, new HashEmbedder({ model: "new" }));
    expect(audit).toMatchObject({ problems: [], compared: COUNT, pending: 0 });
    expect(unsoundness(path)).toEqual([]);
  });
});

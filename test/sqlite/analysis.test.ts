/** A file whose words were analysed by another version: indexed again when it is opened, and nothing lost. */
import { searchWords } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { alter, newPath } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { Embedding, NOW } from "./embedding.js";

const ADA = { user: "ada" };

describe("a file of an older analysis", () => {
  /** Without any word in its index, as an analysis that found none would have left it. */
  async function outdated(): Promise<string> {
    const path = newPath();
    const { store } = await made(path);
    await store.close();
    alter(
      path,
      `INSERT INTO words (words) VALUES ('delete-all');
       UPDATE item SET words = '', length = 0;
       UPDATE space SET terms = 0;
       UPDATE head SET analysis = 1`,
    );
    return path;
  }

  async function made(path: string): Promise<Embedding> {
    const file = await Embedding.open(path, 4);
    await file.add({ space: ADA, session: "s" }, [{ id: "first", content: "I moved to Lisbon." }]);
    await file.add({ space: ADA, session: "s" }, [{ id: "edited", content: "It is warm there." }]);
    await file.unit({ op: "update", space: ADA, id: "edited", patch: { name: "Ann" } });
    await file.add({ space: ADA }, [{ id: "loose", content: "Trams are yellow." }]);
    return file;
  }

  const scores = ({ store }: Embedding) =>
    Promise.all(
      [["lisbon"], ["ann", "warm"], ["be", "yellow", "tram"], ["move", "red"]].map(async (terms) => {
        const hits = await searchWords(store, { spaces: [ADA], terms, filter: {}, limit: 10, now: NOW });
        return hits.map(({ id, score }) => [id, score]);
      }),
    );

  it("scores like a new file with the same items, also after edits and removals", async () => {
    const path = await outdated();
    const old = await Embedding.open(path, 4);
    const fresh = await made(newPath());
    expect(await scores(old)).toEqual(await scores(fresh));
    for (const one of [old, fresh]) {
      const patch = { content: "The trams are red.", parts: null };
      await one.unit({ op: "update", space: ADA, id: "first", patch });
      await one.forget({ space: ADA, ids: ["loose"] });
    }
    expect(await scores(old)).toEqual(await scores(fresh));
    await old.store.close();
    expect(unsoundness(path)).toEqual([]);
  });

  it("takes the new version number and gives every space a new version", async () => {
    const path = await outdated();
    const before = openRaw(path);
    const version = Number(before.prepare("SELECT version FROM space").get()?.["version"]);
    before.close();
    const { store } = await Embedding.open(path, 4);
    expect((await store.versions([ADA]))[0]?.version).toBeGreaterThan(version);
    await store.close();
    const raw = openRaw(path);
    expect(Number(raw.prepare("SELECT analysis FROM head").get()?.["analysis"])).toBeGreaterThan(1);
    raw.close();
  });
});

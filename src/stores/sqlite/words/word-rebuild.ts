/** Rebuilds the word index from the text of all items. */
import { ANALYSIS_VERSION } from "../../../retrieval/words/analyse.js";
import type { Database } from "../file/driver.js";
import { wordsOf } from "../rows/item-row.js";
import type { WordWriter } from "./word-writer.js";

/** Requires a write transaction, so that no reader sees a partial index. Invalidates all cached results. */
export function rebuildWords(database: Database, writer: WordWriter): void {
  writer.clear();
  database.exec("UPDATE space SET terms = 0");
  const page = database.prepare("SELECT key, space, name, content FROM item WHERE key > ? ORDER BY key LIMIT 1000");
  const store = database.prepare("UPDATE item SET words = ?, length = ? WHERE key = ?");
  const count = database.prepare("UPDATE space SET terms = terms + ? WHERE key = ?");
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.["key"]))) {
    for (const row of rows) {
      const [key, space] = [Number(row["key"]), Number(row["space"])];
      const name = row["name"] === null ? undefined : String(row["name"]);
      const { counts, words, length } = wordsOf(name, String(row["content"]));
      store.run(words, length, key);
      count.run(length, space);
      writer.insert(key, space, counts, length);
    }
    writer.flush();
  }
  database.exec(`UPDATE head SET analysis = ${ANALYSIS_VERSION}, commit_no = commit_no + 1`);
  database.exec("UPDATE space SET version = version + 1");
}

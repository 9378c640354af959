/** Repairs the words index from the text of the items. */
import type { Row } from "../stores/sqlite/file/driver.js";
import { wordsOf } from "../stores/sqlite/rows/item-row.js";
import { rebuildWords } from "../stores/sqlite/words/word-rebuild.js";
import { WordWriter } from "../stores/sqlite/words/word-writer.js";
import { findWordFaults, type WordFaults } from "./checks/words.js";
import { count } from "./diagnosis.js";
import type { Mending } from "./mend.js";

/** Items per transaction, so that others can write in between. */
const SLICE_ITEMS = 256;

/** Adds missing items in small batches. For any other fault the whole index is rebuilt in one transaction. */
export async function mendWords(mending: Mending): Promise<string> {
  const { database, transact } = mending;
  const words = new WordWriter(database);
  const faults = await transact(() => tryToFind(mending));
  if (faults && faults.wrong + faults.orphans === 0) {
    if (faults.missing.length === 0) return "rebuilt the words index"; // when the file was opened
    for (let at = 0; at < faults.missing.length; at += SLICE_ITEMS) {
      await addMissing(mending, words, faults.missing.slice(at, at + SLICE_ITEMS));
    }
    return `indexed the words of ${count(faults.missing.length, "item")}`;
  }
  await transact(() => rebuildWords(database, words));
  return "rebuilt the words index";
}

/** Undefined if the index cannot be read. */
function tryToFind({ database, deep }: Mending): WordFaults | undefined {
  try {
    database.exec("INSERT INTO words (words) VALUES ('integrity-check')");
    return findWordFaults(database, deep);
  } catch (error) {
    if (typeof (error as { errcode?: unknown }).errcode !== "number") throw error;
    return undefined;
  }
}

async function addMissing({ database, transact }: Mending, words: WordWriter, keys: readonly number[]): Promise<void> {
  const find = database.prepare("SELECT key, space, name, content, length FROM item WHERE key = ?");
  const store = database.prepare("UPDATE item SET words = ?, length = ? WHERE key = ?");
  await transact((transaction) => {
    for (const row of keys.flatMap((key): Row | readonly Row[] => find.get(key) ?? [])) {
      const [key, space] = [Number(row["key"]), Number(row["space"])];
      const name = row["name"] === null ? undefined : String(row["name"]);
      const { counts, words: packed, length } = wordsOf(name, String(row["content"]));
      store.run(packed, length, key);
      words.insert(key, space, counts, length);
      transaction.touch(space, 0, length - Number(row["length"]));
    }
    words.flush();
  });
}

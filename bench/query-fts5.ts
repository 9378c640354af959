/** A baseline: a plain FTS5 table with `bm25()`. */
import type { Database } from "./product.js";
import type { Chat } from "./query-data.js";
import { openRival } from "./query-rival-database.js";

/** Messages with their user, and their words in FTS5; a join selects a user's. */
export class PlainFts5 {
  readonly #database: Database;
  readonly #search;

  constructor(path: string, chat: Chat) {
    const database = openRival(path);
    database.exec(`
      CREATE TABLE message (id INTEGER PRIMARY KEY, user INTEGER NOT NULL, text TEXT NOT NULL);
      CREATE INDEX message_user ON message (user);
      CREATE VIRTUAL TABLE word USING fts5(text, content = 'message', content_rowid = 'id');
      BEGIN;
    `);
    const insert = database.prepare("INSERT INTO message (user, text) VALUES (?, ?)");
    for (let user = 0; user < chat.shape.users; user++) for (const text of chat.textsOf(user)) insert.run(user, text);
    database.exec("INSERT INTO word (word) VALUES ('rebuild'); COMMIT");
    this.#database = database;
    this.#search = database.prepare(
      `SELECT message.id, message.text, bm25(word) AS score FROM word JOIN message ON message.id = word.rowid
       WHERE word MATCH ? AND message.user = ? ORDER BY score LIMIT ?`,
    );
  }

  search(user: number, words: readonly string[], limit: number): number {
    return this.#search.all(words.map((word) => `"${word}"`).join(" OR "), user, limit).length;
  }

  close(): void {
    this.#database.close();
  }
}

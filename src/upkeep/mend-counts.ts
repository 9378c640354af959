/** Repairs stored counts. */
import type { Mending } from "./mend.js";

export function mendCounts({ database, transact }: Mending): Promise<string> {
  return transact((transaction) => {
    database.exec(`
      UPDATE head SET items = (SELECT count(*) FROM item), blocks = (SELECT count(*) FROM block),
        users = (SELECT count(*) FROM space WHERE kind = 0), agents = (SELECT count(*) FROM space WHERE kind = 1),
        teams = (SELECT count(*) FROM space WHERE kind = 2), sessions = (SELECT count(*) FROM session);
      DELETE FROM kind_count;
      INSERT INTO kind_count SELECT kind, count(*) FROM item WHERE kind <> 0 GROUP BY kind;
      UPDATE space SET items = (SELECT count(*) FROM item WHERE item.space = space.key),
        terms = (SELECT coalesce(sum(length), 0) FROM item WHERE item.space = space.key);
      UPDATE session SET next_seq = coalesce(
        (SELECT max(max(item.seq) + 1, session.next_seq) FROM item WHERE item.session = session.key), next_seq);
    `);
    for (const { key } of database.prepare("SELECT key FROM space").all()) transaction.touch(Number(key));
    return "recounted items and words";
  });
}

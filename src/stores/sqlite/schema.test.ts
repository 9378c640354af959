import { expect, it } from "vitest";
import { type Database, openDatabase } from "./driver.js";
import { migrate } from "./schema.js";

it("a migration that fails says why, also where SQLite has undone it already", () => {
  const database = openDatabase(":memory:", false);
  const full: Database = {
    get isTransaction() {
      return database.isTransaction;
    },
    prepare: (sql) => database.prepare(sql),
    close: () => database.close(),
    exec: (sql) => {
      if (!sql.includes("UPDATE head SET schema")) return database.exec(sql);
      database.exec("ROLLBACK"); // as SQLite does
      throw new Error("database or disk is full");
    },
  };
  expect(() => migrate(full)).toThrow("full");
  migrate(database);
  expect(database.prepare("SELECT count(*) AS n FROM head").get()).toMatchObject({ n: 1 });
  database.close();
});

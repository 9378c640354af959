import { describe, expect, it } from "vitest";
import { pragma } from "./connection.js";
import { type Database, openDatabase } from "./driver.js";
import { MIGRATIONS, type Migration, migrate, SCHEMA_VERSION } from "./schema.js";

describe("migrations", () => {
  const fillSpaces: Migration = (database) => {
    database.exec("ALTER TABLE space ADD COLUMN size INTEGER NOT NULL DEFAULT 0");
    database.prepare("UPDATE space SET size = length(name)").run();
  };
  const newer: readonly Migration[] = [...MIGRATIONS, "CREATE TABLE extra (one INTEGER)", fillSpaces];
  const addSpace = "INSERT INTO space (key, id, kind, name, created_at, updated_at) VALUES (1, 'id', 0, 'ada', 0, 0)";

  it("take a file of an older version step by step to the newest, and keep what it holds", () => {
    const database = openDatabase(":memory:", false);
    migrate(database);
    database.exec(addSpace);
    database.exec("INSERT INTO block VALUES (1, 1, 'id', 'persona', 1, 0)");
    migrate(database, newer);
    expect(database.prepare("SELECT name, version FROM block").all()).toEqual([{ name: "persona", version: 1 }]);
    expect(database.prepare("SELECT name, size FROM space").all()).toEqual([{ name: "ada", size: 3 }]);
    expect(database.prepare("SELECT schema, count(*) AS rows FROM head").get()).toEqual({
      schema: newer.length,
      rows: 1,
    });
    expect(pragma(database, "user_version")).toBe(newer.length);
    migrate(database, newer); // a second time changes nothing
    expect(database.prepare("SELECT count(*) AS n FROM extra").get()).toEqual({ n: 0 });
    database.close();
  });

  it.each(MIGRATIONS.map((_, at) => at + 1))("bring a file of version %i to the present one", (version) => {
    const tables = (from: number) => {
      const database = openDatabase(":memory:", false);
      migrate(database, MIGRATIONS.slice(0, from));
      database.exec(addSpace);
      migrate(database);
      expect(database.prepare("SELECT schema FROM head").get()).toEqual({ schema: SCHEMA_VERSION });
      expect(database.prepare("SELECT name FROM space").all()).toEqual([{ name: "ada" }]);
      const rows = database.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
      database.close();
      return rows;
    };
    expect(tables(version)).toEqual(tables(MIGRATIONS.length));
  });

  it("make a new file the same as an upgraded one", () => {
    const tables = (make: (database: Database) => void) => {
      const database = openDatabase(":memory:", false);
      make(database);
      const rows = database.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
      database.close();
      return rows;
    };
    const upgraded = tables((database) => {
      migrate(database);
      migrate(database, newer);
    });
    expect(tables((database) => migrate(database, newer))).toEqual(upgraded);
  });

  it("leave the file as it was if a step fails", () => {
    const database = openDatabase(":memory:", false);
    migrate(database);
    database.exec(addSpace);
    const failing = () => {
      throw new Error("no room");
    };
    expect(() => migrate(database, [...newer, failing])).toThrow("no room");
    expect(pragma(database, "user_version")).toBe(SCHEMA_VERSION);
    expect(database.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'extra'").get()).toEqual({ n: 0 });
    database.close();
  });
});

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

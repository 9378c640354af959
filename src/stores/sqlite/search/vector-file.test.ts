import { describe, expect, it } from "vitest";
import { KEY_BITS } from "../embedding/vector-table.js";
import { type Database, openDatabase, type Row, type Statement } from "../file/driver.js";
import { type ItemCodes, VectorFile } from "./vector-file.js";

const SPACE = 3;
const TABLE = { key: 1, name: "vector_1", space: { model: "m", runtime: "r", dimensions: 2 } };

/** A database in which no value may be longer than this. */
function limited(database: Database, bytesMax: number): Database {
  const checked = (row: Row | undefined): Row | undefined => {
    const value = row?.["codes"];
    if (!(value instanceof Uint8Array) || value.byteLength <= bytesMax) return row;
    throw Object.assign(new Error("string or blob too big"), { errcode: 18 });
  };
  const prepare = (sql: string): Statement => {
    const statement = database.prepare(sql);
    return {
      run: (...values) => statement.run(...values),
      all: (...values) => statement.all(...values),
      get: (...values) => checked(statement.get(...values)),
    };
  };
  return { prepare, exec: (sql) => database.exec(sql), close: () => database.close(), isTransaction: false };
}

/** Items from key 1 on, with these bytes as their vectors: a file does not know what codes are. */
function fileOf(items: readonly Uint8Array[], bytesMax = Number.POSITIVE_INFINITY): VectorFile {
  const database = openDatabase(":memory:", false);
  database.exec(`
    CREATE TABLE vector_1 (place INTEGER PRIMARY KEY, item INTEGER NOT NULL, vectors BLOB NOT NULL);
    CREATE TABLE item (key INTEGER PRIMARY KEY, space INTEGER NOT NULL);
    CREATE TABLE head (embedded, chunks);
    INSERT INTO head VALUES (1, 1);
  `);
  const insert = database.prepare(`INSERT INTO vector_1 VALUES ((${SPACE} << ${KEY_BITS}) | ?, ?, ?)`);
  const add = database.prepare(`INSERT INTO item VALUES (?, ${SPACE})`);
  for (const [at, bytes] of items.entries()) {
    insert.run(at + 1, at + 1, bytes);
    add.run(at + 1);
  }
  return new VectorFile(limited(database, bytesMax));
}

/** All pages, one after the other. */
function pages(file: VectorFile): ItemCodes[] {
  const all: ItemCodes[] = [];
  for (;;) {
    const page = file.page(SPACE, all.at(-1)?.key ?? 0, TABLE);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

describe("vectors of the file", () => {
  const many = Array.from({ length: 1_500 }, (_, at) => Uint8Array.from({ length: at % 30 }, (_, byte) => at + byte));
  const expected = many.map((codes, at) => ({ key: at + 1, codes }));
  const keys = expected.map(({ key }) => key);

  it.each([Number.POSITIVE_INFINITY, 100])(
    "are read however many there are, with values of up to %d bytes",
    (bytesMax) => {
      const file = fileOf(many, bytesMax);
      expect(pages(file)).toEqual(expected);
      expect(file.items(keys, TABLE)).toEqual(expected);
      expect(file.items([7, 9_999, 3], TABLE), "of those that there are").toEqual([expected[6], expected[2]]);
      expect(file.items([], TABLE)).toEqual([]);
    },
  );

  it("that are too long by themselves are reported", () => {
    const file = fileOf([new Uint8Array(8)], 7);
    expect(() => file.items([1], TABLE)).toThrow("too big");
    expect(() => file.page(SPACE, 0, TABLE)).toThrow("too big");
  });
});

import { describe, expect, it } from "vitest";
import { Cosines } from "../../retrieval/vectors/cosines.js";
import { type Database, openDatabase, type Row, type Statement } from "./driver.js";
import { VectorFile } from "./vector-file.js";
import { KEY_BITS } from "./vector-table.js";

const SPACE = 3;
const TABLE = { key: 1, name: "vector_1", codes: "code_1", space: { model: "m", runtime: "r", dimensions: 2 } };
const VISIBLE = { sql: "item.space = ?", values: [SPACE] };
const QUERY = Float32Array.from([1, 0]);

/** A database in which no value may be longer than this. */
function limited(database: Database, bytesMax: number): Database {
  const checked = (row: Row | undefined): Row | undefined => {
    const value = row?.["vectors"] ?? row?.["codes"];
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

/** Items from key 1 on, with these bytes as their vectors. */
function fileOf(items: readonly Uint8Array[], bytesMax = Number.POSITIVE_INFINITY): VectorFile {
  const database = openDatabase(":memory:", false);
  database.exec(`
    CREATE TABLE vector_1 (place INTEGER PRIMARY KEY, item INTEGER NOT NULL, vectors BLOB NOT NULL);
    CREATE TABLE code_1 (place INTEGER PRIMARY KEY, codes BLOB NOT NULL);
    CREATE TABLE item (key INTEGER PRIMARY KEY, space, id, version, role, occurred_at, recorded_at, expires_at, session);
    CREATE TABLE space (key INTEGER PRIMARY KEY, kind, name, retention_ms);
    CREATE TABLE session (key INTEGER PRIMARY KEY, id);
    CREATE TABLE head (embedded, chunks);
    INSERT INTO head VALUES (1, 1);
    INSERT INTO space VALUES (${SPACE}, 0, 'ada', NULL);
  `);
  const insert = database.prepare(`INSERT INTO vector_1 VALUES ((${SPACE} << ${KEY_BITS}) | ?, ?, ?)`);
  const code = database.prepare(`INSERT INTO code_1 VALUES ((${SPACE} << ${KEY_BITS}) | ?, ?)`);
  const add = database.prepare(`INSERT INTO item VALUES (?, ${SPACE}, ?, 1, 0, 1, 1, NULL, NULL)`);
  for (const [at, bytes] of items.entries()) {
    insert.run(at + 1, at + 1, bytes);
    code.run(at + 1, bytes); // any bytes: a file does not know what codes are
    add.run(at + 1, `m${at + 1}`);
  }
  return new VectorFile(limited(database, bytesMax), new Cosines());
}

const bytesOf = (...numbers: number[]): Uint8Array => new Uint8Array(Float32Array.from(numbers).buffer);

function scoresIn(file: VectorFile, keys: readonly number[]) {
  return {
    known: file.scores(SPACE, keys, TABLE, QUERY),
    visible: file
      .scorer(
        VISIBLE,
        TABLE,
        QUERY,
      )(keys)
      .map(({ key, score, part }) => ({ key, score, part })),
    scanned: pages((after) => file.scoredPage(SPACE, after, TABLE, QUERY)),
    loaded: pages((after) => file.codesPage(SPACE, after, TABLE)).map(({ key, codes }) => ({
      key,
      score: new DataView(codes.buffer, codes.byteOffset).getFloat32(0, true),
      part: 0,
    })),
  };
}

/** All pages, one after the other. */
function pages<T extends { readonly key: number }>(read: (after: number) => readonly T[]): T[] {
  const all: T[] = [];
  for (;;) {
    const page = read(all.at(-1)?.key ?? 0);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

describe("vectors of the file", () => {
  const many = Array.from({ length: 700 }, (_, at) => bytesOf(at / 1024, 0));
  const expected = many.map((_, at) => ({ key: at + 1, score: at / 1024, part: 0 }));
  const keys = expected.map(({ key }) => key);

  it("are read however many there are", () => {
    const { known, visible, scanned, loaded } = scoresIn(fileOf(many), keys);
    for (const found of [known, visible, scanned, loaded]) expect(found).toEqual(expected);
  });

  it("are read in parts where together they would be too long for a value of SQLite's", () => {
    const { known, visible, scanned, loaded } = scoresIn(fileOf(many, 100), keys);
    for (const found of [known, visible, scanned, loaded]) expect(found).toEqual(expected);
  });

  it("that are too long by themselves are told of", () => {
    const file = fileOf([bytesOf(1, 0)], 7);
    expect(() => file.scores(SPACE, [1], TABLE, QUERY)).toThrow("too big");
    expect(() => file.codesPage(SPACE, 0, TABLE)).toThrow("too big");
  });

  it("beside damaged ones are their own, whatever is left of those", () => {
    const damaged = [bytesOf(0.5, 0), new Uint8Array(13), bytesOf(0.25, 0, 0.75), new Uint8Array(3), bytesOf(1, 0)];
    const { known, visible, scanned } = scoresIn(fileOf(damaged), [1, 2, 3, 4, 5]);
    for (const found of [known, visible, scanned]) {
      expect(found.filter(({ key }) => key === 1 || key === 5)).toEqual([
        { key: 1, score: 0.5, part: 0 },
        { key: 5, score: 1, part: 0 },
      ]);
    }
  });
});

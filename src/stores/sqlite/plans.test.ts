/** How SQLite answers the questions that are asked all the time: by the indexes made for them, never by all items. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Backlog } from "./embedding/backlog.js";
import { Leases } from "./embedding/leases.js";
import { OutboxWriter } from "./embedding/outbox.js";
import { VectorTables } from "./embedding/vector-table.js";
import { connect, Statements } from "./file/connection.js";
import type { Database } from "./file/driver.js";
import { migrate } from "./file/schema.js";
import { SPEAKS } from "./reader.js";
import { BlockReader } from "./records/block-reader.js";
import { KeyReader } from "./records/key-reader.js";
import { LedgerReader } from "./records/ledger-reader.js";
import { Ledgers } from "./records/ledgers.js";
import { FIRST_PLACE, PointReader } from "./records/point-reader.js";
import { Points } from "./records/points.js";
import { ChangeReader } from "./rows/change-reader.js";
import { Headers, ItemReader } from "./rows/item-reader.js";
import { Receipts } from "./rows/receipts.js";
import { Registry } from "./rows/registry.js";
import { Residue } from "./rows/residue.js";
import { SearchScope } from "./rows/scope.js";
import { WordSearch } from "./search/word-search.js";
import { WordReader } from "./words/word-reader.js";

let folder = "";
let database: Database;
/** What was prepared since the test began. */
let prepared: string[] = [];
let watched: Database;
let backlog: Backlog;
const lane = { space: { user: "ada" }, session: "s" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-plans-"));
  const path = join(folder, "memory.db");
  database = connect(path, "writer");
  migrate(database);
  database.exec(`
    INSERT INTO space (key, id, kind, name, created_at, updated_at, version, items, terms)
      VALUES (1, 'one', 0, 'ada', 0, 0, 0, 0, 0);
    INSERT INTO session (key, id, space, name, created_at, updated_at, next_seq) VALUES (1, 'two', 1, 's', 0, 0, 1);
  `);
  watched = {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    get isTransaction() {
      return database.isTransaction;
    },
    prepare: (sql) => {
      prepared.push(sql);
      return database.prepare(sql);
    },
  };
  backlog = new Backlog(watched, new Registry(database), new VectorTables(database));
  prepared = [];
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

/** An item that waits to be embedded. */
function addWaiting(): void {
  database.exec(`
    INSERT INTO item (key, space, id, kind, session, seq, content, tier, occurred_at, recorded_at, updated_at, version,
      space_version, words, length) VALUES (1, 1, 'x', 0, 1, 1, 'lamp', 0, 0, 0, 0, 1, 1, 'lamp', 1);
  `);
}

/** How the items are reached by the one statement that was prepared. */
function planOfItems(): string[] {
  expect(prepared).toHaveLength(1);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${prepared[0]}`).all();
  return rows.map((row) => String(row["detail"])).filter((detail) => /\b(item|given|parked)\b/.test(detail));
}

/** Whether the statement reads columns of items from their rows, not only from an index. */
function readsRows(): boolean {
  const program = database.prepare(`EXPLAIN ${prepared[0]}`).all();
  const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'item'").get()?.["rootpage"];
  const cursors = program.filter((row) => row["opcode"] === "OpenRead" && row["p2"] === root).map((row) => row["p1"]);
  return program.some((row) => row["opcode"] === "Column" && cursors.includes(row["p1"] as number));
}

describe("pending items", () => {
  it("are counted by lane in the index alone, without reading an item", () => {
    expect(backlog.waiting("me", 10, 0)).toEqual([]);
    expect(planOfItems()).toEqual(["SCAN item USING INDEX item_lane"]);
    expect(readsRows()).toBe(false);
  });

  it.each([
    ["a session", lane],
    ["what is outside any", { space: lane.space }],
  ])("in %s is reached in the order of keys", (_, lane) => {
    backlog.pending({ lanes: [{ lane, after: 7 }], limit: 10, maxBytes: 100, now: 0 });
    expect(planOfItems()).toEqual(["SEARCH item USING INDEX item_lane (session=? AND space=? AND key>?)"]);
    expect(readsRows()).toBe(true);
  });

  it("are found to be none in the index alone", () => {
    const items = new ItemReader(new Statements(watched), new Registry(database));
    expect(items.waitIn(lane.space)).toBe(false);
    expect(planOfItems()).toEqual(["SEARCH item USING INDEX item_tail (space=?)"]);
    expect(readsRows()).toBe(false);
    addWaiting();
    expect([items.waitIn(lane.space), items.waitIn({ agent: "ada" })]).toEqual([true, false]);
  });

  it("in a space are read newest first, without sorting", () => {
    addWaiting();
    expect(backlog.tail({ spaces: [lane.space], filter: {}, limit: 10, now: 0 }).items).toHaveLength(1);
    expect(planOfItems()).toEqual(["SEARCH item USING INDEX item_tail (space=?)"]);
    expect(
      database
        .prepare(`EXPLAIN QUERY PLAN ${prepared[0]}`)
        .all()
        .map((row) => row["detail"]),
    ).not.toContainEqual(expect.stringContaining("TEMP B-TREE"));
  });

  it("in some sessions of a space are read by their lanes", () => {
    addWaiting();
    expect(backlog.tail({ spaces: [lane.space], filter: { sessions: ["s"] }, limit: 10, now: 0 }).items).toHaveLength(
      1,
    );
    expect(planOfItems()).toEqual(["SEARCH item USING INDEX item_lane (session=? AND space=?)"]);
  });

  it("is counted in an index", () => {
    backlog.stats();
    const plan = planOfItems();
    expect(plan.filter((detail) => detail.includes("SCAN item"))).toEqual(["SCAN item USING INDEX item_tail"]);
    expect(plan).toContain("SEARCH item USING INTEGER PRIMARY KEY (rowid=?)"); // of what is parked
  });

  it("has neighbours that are reached by their sequence", () => {
    backlog.earlier([1], 3, 0);
    expect(planOfItems()).toEqual([
      "SEARCH given USING INTEGER PRIMARY KEY (rowid=?)",
      "SEARCH item USING INDEX item_around (session=? AND seq<?)",
    ]);
  });
});

describe("a search by words", () => {
  it("reaches hits by their keys, and what is around them by sequence", () => {
    const item = "INSERT INTO item (key, space, id, kind, session, seq, content, tier, occurred_at, recorded_at";
    database.exec(`
      ${item}, updated_at, version, space_version, words, length) VALUES (1, 1, 'a', 0, 1, 1, 'lamp', 0, 0, 0, 0, 1, 1, 'lamp', 1);
      INSERT INTO words (rowid, terms) VALUES (1025, '1:lamp');
      UPDATE space SET items = 1, terms = 1;
    `);
    const statements = new Statements(watched);
    const filter = { kinds: ["message" as const] };
    const scope = SearchScope.resolve(statements, new Registry(database), [lane.space], filter, 0);
    const search = new WordSearch(statements, new WordReader(database), scope ?? expect.fail("no scope"), ["lamp"]);
    prepared = [];
    expect(search.best(10)).toMatchObject([{ key: 1 }]);
    expect(search.scores([1])).toMatchObject([{ key: 1 }]);
    const plans = prepared.flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
    const ways = plans.map((row) => String(row["detail"])).filter((detail) => /^(SCAN|SEARCH) item\b/.test(detail));
    expect(new Set(ways)).toEqual(
      new Set([
        "SEARCH item USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH item USING COVERING INDEX item_around (session=? AND seq>? AND seq<?)",
      ]),
    );
  });
});

it("headers are read by the keys of their items", () => {
  new Headers(new Statements(watched)).read([1], new Registry(database).findSpaces([lane.space]), 0);
  expect(planOfItems()).toContain("SEARCH item USING INTEGER PRIMARY KEY (rowid=?)");
});

it("content of one space is read by the keys of its items", () => {
  new ItemReader(new Statements(watched), new Registry(database)).readIn(lane.space, [1], 0);
  expect(planOfItems()).toContain("SEARCH item USING INTEGER PRIMARY KEY (rowid=?)");
});

it("a speaker is found by name and space in the index alone", () => {
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${SPEAKS}`).all();
  expect(plan.map((row) => row["detail"])).toContain("SEARCH item USING COVERING INDEX item_name (name=? AND space=?)");
});

/** How each table is reached by the statements that were prepared. */
function plans(): string[] {
  const rows = prepared.flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
  return rows
    .map((row) => String(row["detail"]))
    .filter((detail) => !/json_each|LIST SUBQUERY|BLOOM FILTER/.test(detail));
}

describe("blocks", () => {
  it.each([
    ["of a space", {}],
    ["of some names and ids", { names: ["persona"], ids: ["b"] }],
  ])("%s are found in their space, and each text by its version", (_, wanted) => {
    new BlockReader(new Statements(watched), new Registry(database)).blocks({ spaces: [lane.space], ...wanted });
    expect(plans()).toEqual([
      "SEARCH block USING INDEX sqlite_autoindex_block_1 (space=?)",
      "SEARCH edit USING INDEX sqlite_autoindex_block_edit_1 (block=? AND version=?)",
    ]);
  });

  it("give their edits in the order of their versions, and none of them is sorted", () => {
    new BlockReader(new Statements(watched), new Registry(database)).log({ space: lane.space, id: "b", limit: 3 });
    expect(plans()).toEqual([
      "SEARCH block USING COVERING INDEX block_id (id=? AND space=?)",
      "SEARCH edit USING INDEX sqlite_autoindex_block_edit_1 (block=?)",
      "SEARCH former USING INDEX sqlite_autoindex_block_edit_1 (block=? AND version=?) LEFT-JOIN",
    ]);
  });
});

describe("a ledger", () => {
  it("is read in its order, and not sorted", () => {
    new LedgerReader(new Statements(watched), new Registry(database)).ledger(lane.space, lane.session);
    expect(plans()).toEqual([
      "SEARCH session USING INDEX sqlite_autoindex_session_2 (space=? AND name=?)",
      "SEARCH ledger USING INDEX ledger_place (session=?) LEFT-JOIN",
    ]);
  });

  it("is written without a look at those of others", () => {
    new Ledgers(watched, new Registry(database), new Residue()).forgetSpace(1);
    expect(plans().filter((detail) => detail.startsWith("SEARCH ledger")).length).toBeGreaterThan(3);
    expect(plans().filter((detail) => /^SCAN (?!SUBQUERY|CONSTANT)|TEMP B-TREE/.test(detail))).toEqual([]);
  });
});

describe("points", () => {
  /** Two collections, so that a page visits both. */
  function addPoints(): void {
    database.exec(`
      INSERT INTO collection (key, id, space, name, dimensions) VALUES (1, 'x', 1, 'c', 1), (2, 'y', 1, 'd', 1);
      INSERT INTO point (key, collection, id, session, stored_at, vector, payload)
        VALUES (7, 1, 'p', 1, 0, x'0000803f', 'null'), (8, 2, 'p', 1, 0, x'0000803f', 'null');
    `);
  }
  const page = { ...lane, limit: 10, now: 0 };
  const ofPoints = (): string[] => plans().filter((detail) => /point|TEMP B-TREE|SCAN/.test(detail));
  const reader = () => new PointReader(new Statements(watched), new Registry(database));

  it("are paged by collection and by session in the order of their keys, and found by id", () => {
    addPoints();
    expect(reader().points({ space: lane.space, limit: 10, now: 0 }).items).toHaveLength(2);
    expect(reader().points(page).items).toHaveLength(2);
    expect(reader().points({ ...page, collection: "c", ids: ["p"] }).items).toHaveLength(1);
    expect(ofPoints()).toEqual([
      "SEARCH point USING INDEX point_collection (collection=? AND rowid>?)",
      "SEARCH point USING INDEX point_session (session=? AND rowid>?)",
      "SEARCH point USING INDEX point_id (id=? AND collection=?)",
    ]);
  });

  it("are compared in the order of their keys, without those of other collections", () => {
    addPoints();
    const request = { spaces: [lane.space], collection: "c", vector: Float32Array.of(1), limit: 10, now: 0 };
    expect(reader().nearest(request, FIRST_PLACE, -1).hits).toHaveLength(1);
    expect(ofPoints()).toEqual([
      "SEARCH point USING INDEX point_collection (collection=? AND rowid>?)",
      "SEARCH point USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
  });

  it("are forgotten without a look at those of others", () => {
    const [registry, residue] = [new Registry(database), new Residue()];
    const receipts = new Receipts(database, registry);
    const outbox = new OutboxWriter(database, new Leases(database, registry));
    new Points(watched, { registry, residue, receipts, outbox }, 10);
    const kinds = ["point_collection", "point_session", "point_stored", "point_id"];
    for (const index of kinds) expect(ofPoints().join()).toContain(index);
    expect(ofPoints().filter((detail) => /^SCAN (point|collection)|TEMP B-TREE/.test(detail))).toEqual([]);
  });
});

it("what has changed in a space is reached by its newest items, and by its changes", () => {
  addWaiting();
  database.exec("UPDATE space SET version = 3");
  const since = { id: "one", version: 0 };
  expect(new ChangeReader(new Statements(watched)).changes({ space: lane.space, since }).changed).toHaveLength(1);
  expect(plans().filter((detail) => /^(SEARCH|SCAN)/.test(detail))).toEqual([
    "SEARCH space USING INDEX sqlite_autoindex_space_2 (kind=? AND name=?)",
    "SEARCH item USING INDEX item_space (space=? AND rowid>?)",
    "SEARCH change USING COVERING INDEX change_space (space=? AND space_version>?)",
    "SEARCH item USING INTEGER PRIMARY KEY (rowid=?)",
    "SEARCH item USING COVERING INDEX item_space (space=?)",
    "SEARCH item USING INDEX item_space (space=? AND rowid>?)",
    "SEARCH change USING INDEX change_space (space=? AND space_version>?)",
  ]);
});

describe("API keys", () => {
  /** Those of a key's spaces are prepared for each key that is found. */
  function keysBy(request: { readonly id: string } | { readonly space: typeof lane.space }): string[] {
    database.exec(`
      INSERT INTO api_key (key, id, access, hash, created_at) VALUES (1, 'k', 'read', '', 0);
      INSERT INTO api_key_space (api_key, place, kind, space) VALUES (1, 0, 0, 1);
    `);
    const reader = new KeyReader(new Statements(watched), new Registry(database));
    expect(reader.keys({ ...request, limit: 10 }).items).toHaveLength(1);
    return plans();
  }

  const itsSpaces = [
    "SEARCH named USING PRIMARY KEY (api_key=?)",
    "SEARCH space USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
  ];

  it("are found by id, with their spaces in order, and nothing is sorted", () => {
    expect(keysBy({ id: "k" })).toEqual(["SEARCH api_key USING INDEX sqlite_autoindex_api_key_1 (id=?)", ...itsSpaces]);
  });

  it("are found by the space that they name", () => {
    expect(keysBy({ space: lane.space })).toEqual([
      "SEARCH api_key USING INTEGER PRIMARY KEY (rowid=?)",
      "SEARCH api_key_space USING COVERING INDEX api_key_space_space (space=?)",
      ...itsSpaces,
    ]);
  });
});

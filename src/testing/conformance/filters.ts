/** Filters: each one alone must change the answer, of a list and of a search alike. */
import { expect } from "vitest";
import type { RowFilter } from "../../stores/store.js";
import type { Metadata, Scalar } from "../../types.js";
import type { Check } from "./check.js";
import { ADA, type Probe } from "./probe.js";

/** Every item contains this word, so that a search finds what a list shows. */
const WORD = "lantern";

const FILTERS: readonly (readonly [string, RowFilter, readonly string[]])[] = [
  ["one session", { sessions: ["s"] }, ["a", "b"]],
  ["several sessions", { sessions: ["s", "t", "not there"] }, ["a", "b", "c"]],
  ["a session that is not there", { sessions: ["not there"] }, []],
  ["no session at all", { sessions: [] }, []],
  ["one agent", { agents: ["coach"] }, ["b"]],
  ["several agents", { agents: ["tutor", "coach"] }, ["a", "b", "c"]],
  ["an agent that is not there", { agents: ["nobody"] }, []],
  ["no agent at all", { agents: [] }, []],
  ["one role", { roles: ["assistant"] }, ["b"]],
  ["several roles", { roles: ["assistant", "tool", "system"] }, ["b", "c"]],
  ["no role at all", { roles: [] }, []],
  ["one kind", { kinds: ["knowledge"] }, ["d"]],
  ["several kinds", { kinds: ["message", "fact"] }, ["a", "b", "c", "e"]],
  ["no kind at all", { kinds: [] }, []],
  ["one tier", { tiers: ["semantic"] }, ["c"]],
  ["several tiers", { tiers: ["semantic", "working"] }, ["c", "e"]],
  ["no tier at all", { tiers: [] }, []],
  ["from a time, which belongs to it", { from: 300 }, ["c", "d", "e"]],
  ["to a time, which does not belong to it", { to: 300 }, ["a", "b"]],
  ["between two times", { from: 200, to: 400 }, ["b", "c"]],
  ["an empty time", { from: 300, to: 300 }, []],
  ["metadata", { metadata: [{ path: ["color"], anyOf: ["red"] }] }, ["a", "c"]],
  ["any of several values", { metadata: [{ path: ["color"], anyOf: ["blue", "red"] }] }, ["a", "b", "c"]],
  ["none of no values", { metadata: [{ path: ["color"], anyOf: [] }] }, []],
  [
    "two metadata keys, which must both hold",
    {
      metadata: [
        { path: ["color"], anyOf: ["red"] },
        { path: ["size"], anyOf: [2] },
      ],
    },
    ["c"],
  ],
  ["all kinds of filter at once", { sessions: ["s"], agents: ["tutor"], roles: ["user"], from: 0, to: 101 }, ["a"]],
  ["filters that exclude each other", { sessions: ["s"], agents: ["tutor"], roles: ["assistant"] }, []],
];

const ODD: Metadata = {
  "": "empty key",
  " ": "blank key",
  "a.b": "dotted key",
  a: { b: "nested", "": { "": "deep empty" }, c: { d: { e: "deep" } } },
  'dou"ble': "double",
  "sin'gle": "single",
  "back\\slash": "backslash",
  "new\nline": "line",
  $: "dollar",
  "[0]": "index",
  "*": "star",
  "%": "percent",
  ключ: "кириллица",
  鍵: "漢字",
  "👩‍👩‍👧": "family",
  "e\u0301": "decomposed",
  "\u00e9": "composed",
  constructor: "own",
  ["__proto__"]: "own prototype",
  0: "number key",
  whole: 1,
  text: "1",
  zero: 0,
  negative: -1.5,
  tiny: 1e-7,
  huge: 1e21,
  exact: 9007199254740991,
  yes: true,
  no: false,
  none: null,
  blank: "",
  quote: 'it\'s "quoted"',
  long: "x".repeat(5000),
  list: ["one", 2],
  object: { one: 1 },
};

/** A path, the requested values, and whether the item with the odd metadata has one of them there. */
const PATHS: readonly (readonly [readonly string[], readonly Scalar[], boolean])[] = [
  [[""], ["empty key"], true],
  [[" "], ["blank key"], true],
  [["a.b"], ["dotted key"], true],
  [["a", "b"], ["nested"], true],
  [["a.b"], ["nested"], false],
  [["a", "b"], ["dotted key"], false],
  [["a", "", ""], ["deep empty"], true],
  [["a", "c", "d", "e"], ["deep"], true],
  [["a", "c", "d"], ["deep"], false],
  [["a", "c", "d", "e", "f"], ["deep"], false],
  [['dou"ble'], ["double"], true],
  [["sin'gle"], ["single"], true],
  [["back\\slash"], ["backslash"], true],
  [["new\nline"], ["line"], true],
  [["$"], ["dollar"], true],
  [["[0]"], ["index"], true],
  [["*"], ["star"], true],
  [["%"], ["percent"], true],
  [["ключ"], ["кириллица"], true],
  [["鍵"], ["漢字"], true],
  [["👩‍👩‍👧"], ["family"], true],
  [["e\u0301"], ["decomposed"], true],
  [["\u00e9"], ["composed"], true],
  [["\u00e9"], ["decomposed"], false],
  [["constructor"], ["own"], true],
  [["toString"], [null, "own"], false],
  [["__proto__"], ["own prototype"], true],
  [["__proto__"], [null], false],
  [["__proto__", "__proto__"], [null], false],
  [["0"], ["number key"], true],
  [["whole"], [1], true],
  [["whole"], ["1"], false],
  [["whole"], [true], false],
  [["text"], ["1"], true],
  [["text"], [1], false],
  [["zero"], [0], true],
  [["zero"], [-0], true],
  [["zero"], [false], false],
  [["zero"], [null], false],
  [["zero"], [""], false],
  [["negative"], [-1.5], true],
  [["tiny"], [1e-7], true],
  [["huge"], [1e21], true],
  [["exact"], [9007199254740991], true],
  [["exact"], [9007199254740990], false],
  [["yes"], [true], true],
  [["yes"], [1], false],
  [["yes"], ["true"], false],
  [["yes"], [false], false],
  [["no"], [false], true],
  [["no"], [0], false],
  [["no"], [null], false],
  [["none"], [null], true],
  [["none"], ["null"], false],
  [["none"], [""], false],
  [["not there"], [null], false],
  [["not there"], [""], false],
  [["blank"], [""], true],
  [["blank"], [null], false],
  [["quote"], ['it\'s "quoted"'], true],
  [["long"], ["x".repeat(5000)], true],
  [["long"], ["x".repeat(4999)], false],
  [["yes"], ["no", 7, null, true], true],
  [["list"], ["one"], false],
  [["list", "0"], ["one"], false],
  [["list"], ['["one",2]'], false],
  [["object"], ['{"one":1}'], false],
  [["object", "one"], [1], true],
];

export function filters(check: Check): void {
  for (const [what, filter, expected] of FILTERS) {
    check(`narrows: ${what}`, async (probe) => {
      await fill(probe);
      expect(await probe.ids(ADA)).toEqual(["a", "b", "c", "d", "e"]);
      expect(await probe.ids(ADA, { filter })).toEqual(expected);
      expect((await probe.found(ADA, WORD, { filter })).toSorted()).toEqual(expected);
    });
  }

  check("does not narrow by an empty filter", async (probe) => {
    await fill(probe);
    expect(await probe.ids(ADA, { filter: { metadata: [] } })).toHaveLength(5);
    expect(await probe.found(ADA, WORD, { filter: { metadata: [] } })).toHaveLength(5);
  });

  check("matches metadata under any key, by exact value and type", async (probe) => {
    await probe.add(ADA, [
      { id: "odd", content: WORD, metadata: ODD },
      { id: "plain", content: WORD },
    ]);
    expect((await probe.item(ADA, "odd")).metadata).toEqual(ODD);
    for (const [path, anyOf, expected] of PATHS) {
      const filter = { metadata: [{ path, anyOf }] };
      const what = `${JSON.stringify(path)} in ${JSON.stringify(anyOf).slice(0, 80)}`;
      expect(await probe.ids(ADA, { filter }), what).toEqual(expected ? ["odd"] : []);
      expect(await probe.found(ADA, WORD, { filter }), what).toEqual(expected ? ["odd"] : []);
    }
  });

  check("filters by the current state of an item, not by earlier ones", async (probe) => {
    await fill(probe);
    const red: RowFilter = { metadata: [{ path: ["color"], anyOf: ["red"] }] };
    await probe.update(ADA, "a", { metadata: { color: "blue" }, role: "system", tier: "semantic", occurredAt: 900 });
    expect(await probe.ids(ADA, { filter: red })).toEqual(["c"]);
    expect(await probe.ids(ADA, { filter: { roles: ["user"] } })).not.toContain("a");
    expect(await probe.ids(ADA, { filter: { tiers: ["semantic"] } })).toEqual(["a", "c"]);
    expect(await probe.ids(ADA, { filter: { from: 900 } })).toEqual(["a"]);
  });

  check("narrows before it counts: a page and a search are filled up to their limit", async (probe) => {
    const drafts = Array.from({ length: 60 }, (_, at) => ({ content: WORD, metadata: { third: at % 3 === 0 } }));
    await probe.add(ADA, drafts);
    const filter: RowFilter = { metadata: [{ path: ["third"], anyOf: [true] }] };
    expect(await probe.list(ADA, { filter, limit: 15 })).toHaveLength(15);
    expect(await probe.found(ADA, WORD, { filter, limit: 15 })).toHaveLength(15);
    expect(await probe.list(ADA, { filter })).toHaveLength(20);
  });
}

async function fill(probe: Probe): Promise<void> {
  const content = WORD;
  await probe.add(ADA, [{ id: "a", content, role: "user", occurredAt: 100, metadata: { color: "red", size: 1 } }], {
    session: "s",
    agent: "tutor",
  });
  await probe.add(
    ADA,
    [{ id: "b", content, role: "assistant", occurredAt: 200, metadata: { color: "blue", size: 2 } }],
    { session: "s", agent: "coach" },
  );
  await probe.add(
    ADA,
    [{ id: "c", content, role: "tool", tier: "semantic", occurredAt: 300, metadata: { color: "red", size: 2 } }],
    { session: "t", agent: "tutor" },
  );
  await probe.add(ADA, [{ id: "d", content, kind: "knowledge", occurredAt: 400, metadata: { colour: "red" } }]);
  await probe.add(ADA, [{ id: "e", content, kind: "fact", tier: "working", occurredAt: 500 }]);
}

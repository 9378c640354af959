/** The books must find faults: each test corrupts a sound file in one way. */
import { expect, it } from "vitest";
import { Books } from "./books.js";
import type { Call, Found, FoundEntry } from "./protocol.js";

const entry = (number: number, traits: Partial<FoundEntry> = {}): FoundEntry => {
  return { rowid: number, number, attempts: 0, isWhole: true, ...traits };
};

/** Books of a file with the entries 1, 2, 3 and the injected id 9, with 2 and 3 leased; and that file. */
function written(underWay?: Call): { books: Books; file: Found } {
  const books = new Books();
  const perform = (call: Call, numbers: readonly number[]): void => {
    books.begin(call);
    expect(books.end(numbers)).toEqual([]);
  };
  for (const number of [1, 2, 3]) perform({ kind: "push", number }, [number]);
  perform({ kind: "inject", number: 9 }, [9]);
  perform({ kind: "lease" }, [2, 3]);
  if (underWay) books.begin(underWay);
  return { books, file: { entries: [entry(1), entry(2, { attempts: 1 }), entry(3, { attempts: 1 })], injected: [9] } };
}

it("finds nothing in a sound file", () => {
  const { books, file } = written();
  expect(books.audit(file)).toEqual([]);
  expect(books.audit(file)).toEqual([]);
});

it.each<[string, (file: Found) => Found]>([
  ["a lost entry", ({ entries, injected }) => ({ entries: entries.slice(1), injected })],
  ["an entry twice", ({ entries, injected }) => ({ entries: [...entries, entry(3, { rowid: 4 })], injected })],
  ["entries that changed places", ({ entries, injected }) => ({ entries: entries.toReversed(), injected })],
  [
    "a torn entry",
    ({ entries, injected }) => ({ entries: [entry(1, { isWhole: false }), ...entries.slice(1)], injected }),
  ],
  ["a lost attempt", ({ entries, injected }) => ({ entries: [...entries.slice(0, 2), entry(3)], injected })],
  ["a lost injected id", ({ entries }) => ({ entries, injected: [] })],
])("sees %s", (_, doctor) => {
  const { books, file } = written();
  expect(books.audit(doctor(file))).not.toEqual([]);
});

it("detects an acknowledged entry that comes back, and a reused rowid", () => {
  const { books, file } = written();
  expect(books.audit(file)).toEqual([]);
  books.begin({ kind: "acknowledge", numbers: [3] });
  expect(books.end([3])).toEqual([]);
  const [first, second] = file.entries as [FoundEntry, FoundEntry];
  expect(books.audit(file)).toContain("came back: 3");
  books.begin({ kind: "push", number: 4 });
  books.end([4]);
  expect(books.audit({ entries: [first, second, entry(4, { rowid: 3 })], injected: [9] })).toEqual(["rowid of 4: 3"]);
});

it("accepts a pending acknowledgement completely or not at all", () => {
  for (const [left, sound] of [
    [[1, 2, 3], true],
    [[1], true],
    [[1, 2], false],
  ] as const) {
    const { books, file } = written({ kind: "acknowledge", numbers: [2, 3] });
    const entries = file.entries.filter(({ number }) => (left as readonly number[]).includes(number));
    expect(books.audit({ ...file, entries }).length === 0).toBe(sound);
  }
});

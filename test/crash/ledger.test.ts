/**
 * The parent's record must be able to find faults: each test damages a sound file in one way and names what has to be
 * found.
 */
import { describe, expect, it } from "vitest";
import type { Problem } from "./finding.js";
import { Ledger } from "./ledger.js";
import { type AddOperation, digest, type Operation, type Text, textOf, textsOf } from "./operation.js";
import type { Found } from "./protocol.js";

const LANE = 4;

function addOf(op: number, counts: readonly number[], retry: AddOperation["retry"] = "none"): AddOperation {
  return { kind: "add", op, lane: LANE, retry, rounds: counts.map((count) => Array.from({ length: count }, () => 40)) };
}

const idOf = ({ op, at }: Pick<Text, "op" | "at">): string => `id-${op}-${at}`;

/** The items of an add as a sound file holds them, from this sequence on. */
function itemsOf(operation: AddOperation, first: number): Found[] {
  let sequence = first;
  return textsOf(operation).flatMap((texts) => {
    const round = sequence;
    return texts.map((text) => {
      const item = { lane: LANE, id: idOf(text), version: 1, op: text.op, at: text.at, digest: digest(textOf(text)) };
      return { ...item, round, sequence: sequence++ };
    });
  });
}

/** A ledger of acknowledged adds, and the file that goes with it. */
function written(...adds: readonly AddOperation[]): { ledger: Ledger; file: Found[] } {
  const ledger = new Ledger();
  const file: Found[] = [];
  for (const operation of adds) {
    const items = itemsOf(operation, file.length + 1);
    ledger.begin(operation);
    const answer = {
      ids: items.map(({ id }) => id),
      sequences: items.map(({ sequence }) => sequence),
      repeated: false,
    };
    expect(ledger.done(operation.op, answer)).toEqual([]);
    file.push(...items);
  }
  return { ledger, file };
}

function problems(ledger: Ledger, file: readonly Found[]): Problem[] {
  return ledger.audit(file).map(({ problem }) => problem);
}

function acknowledge(ledger: Ledger, operation: Operation, answer = {}): Problem[] {
  ledger.begin(operation);
  return ledger.done(operation.op, answer).map(({ problem }) => problem);
}

describe("acknowledged", () => {
  it("finds nothing in a sound file", () => {
    const { ledger, file } = written(addOf(1, [1]), addOf(2, [2, 3]));
    expect(problems(ledger, file)).toEqual([]);
  });

  it("notices a lost message", () => {
    const { ledger, file } = written(addOf(1, [1]), addOf(2, [2]));
    expect(problems(ledger, file.slice(0, 2))).toEqual(["lost"]);
  });

  it("sees a message twice", () => {
    const { ledger, file } = written(addOf(1, [1]));
    const twice = file.map((item) => ({ ...item, id: "other", sequence: 2 }));
    expect(problems(ledger, [...file, ...twice])).toContain("duplicated");
  });

  it("sees two messages that have changed places", () => {
    const { ledger, file } = written(addOf(1, [1]), addOf(2, [1]));
    const swapped = file.map((item) => ({ ...item, sequence: 3 - item.sequence, round: 3 - item.sequence })).reverse();
    expect(problems(ledger, swapped)).toEqual(["out of order", "out of order"]);
  });

  it("sees a gap in the reported sequences", () => {
    const { ledger } = written(addOf(1, [1]));
    const answer = { ids: ["x"], sequences: [3], repeated: false };
    expect(acknowledge(ledger, addOf(2, [1]), answer)).toEqual(["out of order"]);
  });

  it("notices a lost edit, and an edit without its version", () => {
    const { ledger, file } = written(addOf(1, [1]));
    const edit = { kind: "update", op: 2, lane: LANE, id: "id-1-0", version: 1, size: 40 } as const;
    expect(acknowledge(ledger, edit, { version: 2 })).toEqual([]);
    const edited = file.map((item) => ({ ...item, version: 2, digest: digest(textOf({ op: 2, at: 0, size: 40 })) }));
    expect(problems(ledger, edited)).toEqual([]);
    expect(problems(ledger, file)).toEqual(["lost"]);
    expect(problems(ledger, [{ ...edited[0], version: 1 } as Found])).toEqual(["lost"]);
  });

  it("sees what was deleted or forgotten come back", () => {
    const { ledger, file } = written(addOf(1, [2]));
    expect(acknowledge(ledger, { kind: "delete", op: 2, lane: LANE, ids: ["id-1-0"] })).toEqual([]);
    expect(problems(ledger, file)).toEqual(["ghost"]);
    expect(problems(ledger, file.slice(1))).toEqual([]);
    expect(acknowledge(ledger, { kind: "forget", op: 3, lane: LANE })).toEqual([]);
    expect(problems(ledger, file.slice(1))).toEqual(["ghost"]);
  });

  it("sees a message in another session", () => {
    const { ledger, file } = written(addOf(1, [1]));
    expect(problems(ledger, [{ ...file[0], lane: LANE + 1 } as Found])).toEqual(["lost", "ghost"]);
  });
});

describe("under way", () => {
  it("takes all of a round or nothing of it, and nothing between", () => {
    const add = addOf(2, [3]);
    for (const there of [0, 1, 2, 3]) {
      const { ledger, file } = written(addOf(1, [1]));
      ledger.begin(add);
      const found = [...file, ...itemsOf(add, 2).slice(0, there)];
      expect(problems(ledger, found)).toEqual(there === 0 || there === 3 ? [] : ["torn"]);
    }
  });

  it("takes the rounds of a batch from the first on", () => {
    const add = addOf(2, [2, 2]);
    const { ledger, file } = written(addOf(1, [1]));
    ledger.begin(add);
    const second = itemsOf(add, 2).slice(2);
    expect(problems(ledger, [...file, ...second])).toContain("torn");
  });

  it("knows a repetition from something new", () => {
    const add = addOf(2, [2], "key");
    const { ledger, file } = written(addOf(1, [1]));
    ledger.begin(add);
    const items = itemsOf(add, 2);
    expect(problems(ledger, [...file, ...items])).toEqual([]);
    expect(ledger.repeatable).toEqual([add]);
    const again = { ids: ["new-0", "new-1"], sequences: [4, 5], repeated: false };
    expect(acknowledge(ledger, add, again)).toEqual(["out of order", "duplicated"]);
  });

  it("adds once what was not there before its repetition", () => {
    const add = addOf(2, [2], "key");
    const { ledger, file } = written(addOf(1, [1]));
    ledger.begin(add);
    expect(problems(ledger, file)).toEqual([]);
    const items = itemsOf(add, 2);
    const answer = { ids: items.map(({ id }) => id), sequences: [2, 3], repeated: false };
    expect(acknowledge(ledger, add, answer)).toEqual([]);
    expect(problems(ledger, [...file, ...items])).toEqual([]);
    expect(problems(ledger, file)).toEqual(["lost", "lost"]);
  });

  it("asks for every word that came and every one that went", () => {
    const { ledger, file } = written(addOf(1, [2]));
    acknowledge(ledger, { kind: "delete", op: 2, lane: LANE, ids: ["id-1-0"] });
    const { words, gone } = ledger.search({} as never, 10);
    expect(words.map(({ id }) => id)).toEqual(["id-1-1", undefined]);
    expect(gone).toEqual([{ lane: LANE, id: "id-1-0" }]);
    expect(ledger.searched(["a"], ["b"]).map(({ problem }) => problem)).toEqual(["unfound", "ghost"]);
    expect(problems(ledger, file.slice(1))).toEqual([]);
  });
});

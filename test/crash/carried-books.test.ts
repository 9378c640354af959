/**
 * The parent's record must be able to find faults: each test damages a sound file in one way and names what has to be
 * found.
 */
import { describe, expect, it } from "vitest";
import { CarriedBooks } from "./carried-books.js";
import { type CarriedFound, expected } from "./carried-found.js";
import { type CarriedAnswer, type CarriedOperation, factOf, headOf, lineOf, messageOf } from "./carried-operation.js";
import { after } from "./carried-state.js";
import type { Problem } from "./finding.js";
import { digest } from "./operation.js";

const LANE = 2;
const CREATE: CarriedOperation = { kind: "create", op: 1, lane: LANE, name: "goals" };
const APPEND: CarriedOperation = { kind: "edit", op: 2, lane: LANE, name: "goals", how: "append" };
const TURN: CarriedOperation = { kind: "turn", op: 3, lane: LANE, name: "goals" };
const LEARN: CarriedOperation = { kind: "learn", op: 4, lane: LANE };
const SUPERSEDE: CarriedOperation = { kind: "learn", op: 5, lane: LANE, supersedes: factOf(4) };
const CONTEXT: CarriedOperation = { kind: "context", op: 6, lane: LANE };
const RESET: CarriedOperation = { kind: "reset", op: 7, lane: LANE };
const FORGET: CarriedOperation = { kind: "forget", op: 8, lane: LANE };

/** What callers are told if all is well. */
const ANSWERS: { readonly [op: number]: CarriedAnswer } = {
  1: { version: 1 },
  2: { version: 2 },
  3: { sequence: 1 },
  9: { sequence: 1 },
  6: { given: [messageOf(3), factOf(3), factOf(5)], withdrawn: [] },
};
const ALL = [CREATE, APPEND, TURN, LEARN, SUPERSEDE, CONTEXT] as const;

/** Books of these calls, all of which have returned, and the file that goes with them. */
function written(...operations: readonly CarriedOperation[]): { books: CarriedBooks; file: CarriedFound } {
  const books = new CarriedBooks();
  for (const operation of operations) expect(told(books, operation, ANSWERS[operation.op])).toEqual([]);
  return { books, file: fileOf(books) };
}

function told(books: CarriedBooks, operation: CarriedOperation, answer: CarriedAnswer = {}): Problem[] {
  books.begin(operation);
  return books.done(LANE, operation.op, answer).map(({ problem }) => problem);
}

function fileOf(books: CarriedBooks, underWay?: CarriedOperation): CarriedFound {
  const state = books.states[LANE];
  if (!state) throw new Error("no such lane");
  return expected(underWay ? after(state, underWay) : state);
}

const problems = (books: CarriedBooks, file: CarriedFound): Problem[] =>
  books.audit(LANE, file).map(({ problem }) => problem);

describe("acknowledged", () => {
  it("finds nothing in a sound file", () => {
    const { books, file } = written(...ALL);
    expect(problems(books, file)).toEqual([]);
    expect(books.counts.acknowledged).toBe(ALL.length);
  });

  it("knows the text of every version of a block", () => {
    const { file } = written(...ALL);
    const [first, second, third] = [
      lineOf(1),
      `${lineOf(1)}\n${lineOf(2)}`,
      `${lineOf(1)}\n${lineOf(2)}\n${lineOf(3)}`,
    ];
    expect(file.blocks[0]?.content).toBe(third);
    expect(file.blocks[0]?.log.map(({ old }) => old)).toEqual(["", first, second].map(digest));
    expect(file.blocks[0]?.log.map((edit) => edit.new)).toEqual([first, second, third].map(digest));
  });

  it("notices a version that is skipped, twice, or has another text or reason", () => {
    const { books, file } = written(...ALL);
    const [block] = file.blocks;
    const [first, second, third] = block?.log ?? [];
    if (!block || !first || !second || !third) throw new Error("no block of three versions");
    const withLog = (log: (typeof block)["log"]): CarriedFound => ({ ...file, blocks: [{ ...block, log }] });
    expect(problems(books, withLog([first, third]))).toEqual(["lost"]);
    expect(problems(books, withLog([first, second, second, third]))).toEqual(["duplicated"]);
    expect(problems(books, withLog([first, { ...second, new: digest("other") }, third]))).toEqual(["lost"]);
    expect(problems(books, withLog([first, { ...second, reason: "other" }, third]))).toEqual(["lost"]);
    expect(problems(books, { ...file, blocks: [{ ...block, version: 2 }] })).toEqual(["lost"]);
    expect(problems(books, { ...file, blocks: [] })).toEqual(["lost", "lost", "lost", "lost"]);
  });

  it("notices a fact that is gone, holds still, or is not to be found", () => {
    const { books, file } = written(...ALL);
    const others = file.facts.filter(({ text }) => text !== factOf(4));
    const ended = file.facts.filter(({ text }) => text === factOf(4));
    expect(ended).toMatchObject([{ state: "ended", spans: [{ from: 4, to: 5, by: factOf(5) }] }]);
    expect(problems(books, { ...file, facts: others })).toEqual(["lost"]);
    const holding = ended.map((fact) => ({ ...fact, state: "holds" as const }));
    expect(problems(books, { ...file, facts: [...others, ...holding] })).toEqual(["lost"]);
    expect(problems(books, { ...file, listed: [...file.listed, factOf(4)] })).toEqual(["ghost"]);
    expect(problems(books, { ...file, searched: file.searched.slice(1) })).toEqual(["unfound"]);
  });

  it("notices a window that has forgotten, or holds what was never given", () => {
    const { books, file } = written(...ALL);
    expect(problems(books, { ...file, window: file.window.slice(1) })).toEqual(["lost"]);
    expect(problems(books, { ...file, window: [...file.window, factOf(4)] })).toEqual(["ghost"]);
    expect(problems(books, { ...file, resets: 1 })).toEqual(["lost"]);
  });

  it("sees what a context gives again, holds back, and does not withdraw", () => {
    const { books } = written(...ALL);
    expect(told(books, { ...CONTEXT, op: 10 }, { given: [factOf(3)] })).toEqual(["duplicated"]);
    expect(told(books, { kind: "retract", op: 11, lane: LANE, fact: factOf(5) })).toEqual([]);
    expect(told(books, { ...CONTEXT, op: 12 }, { given: [] })).toEqual(["lost"]);
    expect(told(books, RESET)).toEqual([]);
    expect(told(books, { ...CONTEXT, op: 13 }, { given: [factOf(3)] })).toEqual(["lost"]);
  });

  it("sees a point that is lost, or that another call has stored", () => {
    const { books, file } = written(...ALL);
    const [point] = file.points;
    if (!point) throw new Error("a turn stores a point");
    expect(problems(books, { ...file, points: [] })).toEqual(["lost"]);
    expect(problems(books, { ...file, points: [{ ...point, vector: [...point.vector, 1] }] })).toEqual(["lost"]);
    expect(problems(books, { ...file, points: [point, point] })).toEqual(["duplicated"]);
    expect(problems(books, { ...file, points: [point, { ...point, id: "other" }] })).toEqual(["ghost"]);
  });

  it("sees a version or a sequence that is not the next", () => {
    const { books } = written(CREATE);
    expect(told(books, APPEND, { version: 3 })).toEqual(["lost"]);
    expect(told(books, TURN, { sequence: 2 })).toEqual(["out of order"]);
  });
});

describe("under way", () => {
  it("takes a call as done or as not done, whichever the file shows", () => {
    for (const operation of [APPEND, LEARN, TURN, CONTEXT, RESET]) {
      for (const isDone of [false, true]) {
        const { books } = written(CREATE, { ...TURN, op: 9 });
        books.begin(operation);
        const file = fileOf(books, isDone ? operation : undefined);
        expect(problems(books, file)).toEqual([]);
        expect(fileOf(books)).toEqual(file);
        expect(books.counts).toEqual({ acknowledged: 2, underWay: 1, doneUnderWay: isDone ? 1 : 0 });
      }
    }
  });

  it("sees that a turn has come in part", () => {
    const start = [CREATE, APPEND] as const;
    const { file: before } = written(...start);
    const { file: behind } = written(...start, TURN);
    const items = { listed: behind.listed, searched: behind.searched };
    const messageOnly = [messageOf(3)];
    const parts: readonly CarriedFound[] = [
      { ...behind, blocks: before.blocks },
      { ...behind, points: before.points },
      { ...behind, facts: before.facts, listed: messageOnly, searched: messageOnly },
      { ...before, ...items, messages: behind.messages, facts: behind.facts },
      { ...before, blocks: behind.blocks },
    ];
    for (const part of parts) {
      const { books } = written(...start);
      books.begin(TURN);
      expect(problems(books, part)).toEqual(["torn"]);
    }
  });

  it("sees that a line has left its block and has not arrived", () => {
    const [create, append] = [CREATE, APPEND].map(
      (operation) => ({ ...operation, name: "archive" }) as CarriedOperation,
    );
    if (!create || !append) throw new Error("no operations");
    const { books, file } = written(create);
    books.begin(append);
    const behind = fileOf(books, append);
    expect(behind.blocks).toMatchObject([{ content: `${headOf(1)}\n`, version: 2 }]);
    expect(behind.listed).toEqual([lineOf(2)]);
    expect(problems(books, { ...behind, listed: file.listed, searched: file.searched })).toEqual(["torn"]);
  });

  it("sees that a window was filled in part", () => {
    const { books } = written(CREATE, TURN);
    books.begin(CONTEXT);
    expect(problems(books, { ...fileOf(books), window: [messageOf(3)] })).toEqual(["torn"]);
  });

  it("sees what is lost beside a call under way", () => {
    const { books, file } = written(CREATE, APPEND, TURN);
    books.begin(LEARN);
    expect(problems(books, { ...file, blocks: [] })).toEqual(["lost", "lost", "lost", "lost"]);
  });

  it("lets a forget take some of it, and has it repeated until all is gone", () => {
    const { books, file } = written(...ALL);
    books.begin(FORGET);
    expect(problems(books, { ...file, facts: [], listed: [], searched: [] })).toEqual([]);
    expect(books.unfinished).toEqual([FORGET]);
    expect(problems(books, { ...file, listed: [...file.listed, factOf(4)] })).toEqual(["ghost"]);
    const gone = fileOf(books, FORGET);
    expect(problems(books, gone)).toEqual([]);
    expect(books.unfinished).toEqual([]);
    expect(problems(books, file)).not.toEqual([]);
  });
});

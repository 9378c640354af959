/** The seed's six unit tests, by their names, and what the seed left open. */
import { describe, expect, it } from "vitest";
import { parseMessages } from "../input/message.js";
import { type BufferedWrite, Turn } from "./turn.js";

function saveMessage(content = "hello"): BufferedWrite {
  return { op: "save_message", message: { role: "user", content, tier: "episodic" } };
}

describe("Turn (the seed's WriteBuffer)", () => {
  it("push_increases_len", () => {
    const turn = new Turn(5);
    expect(turn.isEmpty).toBe(true);
    turn.push(saveMessage());
    expect(turn.length).toBe(1);
  });

  it("push_returns_false_below_capacity", () => {
    const turn = new Turn(3);
    expect(turn.push(saveMessage())).toBe(false);
    expect(turn.push(saveMessage())).toBe(false);
  });

  it("push_returns_true_at_capacity", () => {
    const turn = new Turn(2);
    turn.push(saveMessage());
    expect(turn.push(saveMessage())).toBe(true);
  });

  it("drain_returns_all_items_and_clears_buffer", () => {
    const turn = new Turn(10);
    const writes = [saveMessage("a"), saveMessage("b"), saveMessage("c")];
    for (const write of writes) turn.push(write);
    expect(turn.drain()).toEqual(writes);
    expect(turn.isEmpty).toBe(true);
    expect(turn.length).toBe(0);
  });

  it("drain_on_empty_buffer_returns_empty_vec", () => {
    expect(new Turn(5).drain()).toEqual([]);
  });

  it("capacity_one_signals_on_first_push", () => {
    expect(new Turn(1).push(saveMessage())).toBe(true);
  });
});

describe("Turn", () => {
  it("accepts writes beyond its capacity: the signal is not a limit", () => {
    const turn = new Turn(1);
    turn.push(saveMessage());
    expect(turn.push(saveMessage())).toBe(true);
    expect(turn.length).toBe(2);
  });

  it("puts restored writes before what was pushed meanwhile", () => {
    const turn = new Turn();
    turn.push(saveMessage("first"));
    const drained = turn.drain();
    turn.push(saveMessage("second"));
    turn.restore(drained);
    expect(turn.drain()).toEqual([saveMessage("first"), saveMessage("second")]);
  });

  it("keeps its own copy of a vector that is a typed array", () => {
    const turn = new Turn();
    const vector = Float32Array.of(1, 0.5);
    turn.push({ op: "store_embedding", collection: "c", pointId: "p", vector });
    vector.fill(0);
    const kept = { op: "store_embedding", collection: "c", pointId: "p", vector: [1, 0.5] } as const;
    expect(turn.drain()).toEqual([kept]);
    turn.restore([kept]);
    expect(turn.take(0).given).toEqual([kept]);
  });

  it.each(["nonsense", "constructor", "__proto__", undefined])("refuses the write %o, which it would drop", (op) => {
    const turn = new Turn();
    expect(() => turn.push({ op } as never)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(turn.length).toBe(0);
  });

  it.each([null, undefined, "save_message", 5])("refuses %o, which is no write", (write) => {
    expect(() => new Turn().push(write as never)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  it("refuses to restore a write that no commit would write", () => {
    const turn = new Turn();
    const writes = [saveMessage(), { op: "nonsense" }] as never;
    expect(() => turn.restore(writes)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(turn.isEmpty).toBe(true);
  });

  it("keeps the writes of both of two commits that fail at once", () => {
    const turn = new Turn();
    turn.push(saveMessage("first"));
    const first = turn.take(0);
    turn.push(saveMessage("second"));
    const second = turn.take(0);
    turn.giveBack(first);
    turn.giveBack(second);
    expect(turn.length).toBe(2);
    expect([turn.take(0), turn.take(0)]).toEqual([first, second]);
  });

  it("keeps a write as it was pushed, whatever its owner does with the object afterwards", () => {
    const message = { role: "user" as const, content: "first", metadata: { tags: ["a"] } };
    const write: { op: "save_message" | "gone"; message: typeof message } = { op: "save_message", message };
    const turn = new Turn();
    turn.push(write as BufferedWrite);
    message.content = "second";
    message.metadata.tags.push("b");
    turn.push(write as BufferedWrite);
    write.op = "gone";
    expect(turn.take(0).given).toEqual([
      { op: "save_message", message: { role: "user", content: "first", metadata: { tags: ["a"] } } },
      { op: "save_message", message: { role: "user", content: "second", metadata: { tags: ["a", "b"] } } },
    ]);
  });

  it("refuses a write whose kind would be lost on the way to the file", () => {
    const inherited = Object.create(saveMessage()) as BufferedWrite;
    expect(() => new Turn().push(inherited)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  it("leaves a write that contains itself to its parser", () => {
    const metadata: { [key: string]: unknown } = {};
    metadata["self"] = metadata;
    metadata["again"] = [metadata];
    const turn = new Turn();
    turn.push({ op: "save_message", message: { role: "user", content: "x", metadata: metadata as never } });
    expect(() =>
      parseMessages(
        turn.take(0).writes.flatMap((write) => ("message" in write ? [write.message] : [])),
        0,
      ),
    ).toThrow("contains itself");
  });

  it("refuses an object that only looks like a turn", () => {
    const forged = Object.create(Turn.prototype) as Turn;
    expect(() => Turn.bind(forged, { space: { user: "ada" } })).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  });

  it("belongs to the first session that commits it, if it was constructed directly", () => {
    const turn = new Turn();
    const ada = { space: { user: "ada" }, session: "s" };
    Turn.bind(turn, ada);
    Turn.bind(turn, { ...ada });
    const refused = expect.objectContaining({ code: "invalid_input", hint: expect.any(String) });
    expect(() => Turn.bind(turn, { space: { user: "bob" }, session: "s" })).toThrow(refused);
    expect(() => Turn.bind(turn, { space: { user: "ada" } })).toThrow(refused);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses a capacity of %s", (capacity) => {
    expect(() => new Turn(capacity)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

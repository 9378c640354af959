/** What JSON cannot represent is converted, or refused as the engine refuses it. */
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { jsonOf, roundOf, turnOf, withTimes } from "./outgoing.js";

const refusal = (field: string) => expect.objectContaining({ code: "invalid_input", details: { field } });

describe("times", () => {
  it("become epoch milliseconds where they are Dates, of any realm; the rest is sent as it is", () => {
    const other: Date = runInNewContext("new Date(7)");
    expect(withTimes({ from: new Date(5), to: other, askedAt: "2026-01-01", topK: 3, asOf: 9 })).toEqual({
      from: 5,
      to: 7,
      askedAt: "2026-01-01",
      topK: 3,
      asOf: 9,
    });
    expect(withTimes({ to: { team: "crew" } })).toEqual({ to: { team: "crew" } });
    expect(withTimes(undefined)).toBeUndefined();
  });

  it("are refused where they are no time", () => {
    expect(() => withTimes({ from: new Date(Number.NaN) })).toThrow(refusal("options.from"));
    expect(() => withTimes({ at: new Date(Number.NaN) }, "fact")).toThrow(refusal("fact.at"));
  });
});

describe("messages", () => {
  it("keep what they say, and leave the caller's objects alone", () => {
    const metadata = { a: [1, { b: null }] };
    const message = { role: "user", content: [{ type: "text", text: "x" }], occurredAt: new Date(3), metadata };
    const [sent] = roundOf([message], "messages");
    expect(sent).toEqual({ ...message, occurredAt: 3 });
    expect(message.occurredAt).toBeInstanceOf(Date);
    expect((sent as typeof message).metadata).not.toBe(metadata);
  });

  it.each([
    ["a Date in metadata", { metadata: { at: new Date() } }, "messages[1].metadata.at"],
    ["undefined in metadata", { metadata: { x: undefined } }, "messages[1].metadata.x"],
    ["NaN in metadata", { metadata: { x: Number.NaN } }, "messages[1].metadata.x"],
    ["metadata that is a list", { metadata: [] }, "messages[1].metadata"],
    ["a BigInt in a part", { content: [{ type: "text", text: "x", n: 1n }] }, "messages[1].content[0].n"],
    ["an invalid Date", { occurredAt: new Date("never") }, "messages[1].occurredAt"],
  ])("are refused with %s, which JSON would bend", (_, wrong, field) => {
    const round = [
      { role: "user", content: "" },
      { role: "user", content: "", ...wrong },
    ];
    expect(() => roundOf(round, "messages")).toThrow(refusal(field));
    const turn = round.map((message) => ({ op: "save_message", message })) as unknown as Parameters<typeof turnOf>[0];
    expect(() => turnOf(turn)).toThrow(refusal(field));
  });

  it("are left to the server where they are none at all", () => {
    expect(roundOf([null, 5, "x"], "messages")).toEqual([null, 5, "x"]);
    expect(roundOf("x" as unknown as [], "messages")).toBe("x");
  });
});

describe("a body", () => {
  it.each([
    [{ topK: Number.NaN }, "topK"],
    [{ recency: Number.POSITIVE_INFINITY }, "recency"],
    [{ metadata: { at: new Date(5) } }, "at"],
    [{ n: 5n }, "n"],
    [{ f: () => 1 }, "f"],
  ])("is refused if JSON would lie: %o", (body, field) => {
    expect(() => jsonOf(body)).toThrow(refusal(field));
  });

  it("leaves out what is undefined", () => {
    expect(jsonOf({ a: undefined, b: [1, "x", null, true], c: { d: undefined } })).toBe(
      '{"b":[1,"x",null,true],"c":{}}',
    );
  });
});

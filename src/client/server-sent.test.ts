/** Server-sent events, split anywhere. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServerSentReader } from "./server-sent.js";

const read = (...pieces: readonly string[]) => {
  const reader = new ServerSentReader();
  return { reader, events: pieces.flatMap((piece) => reader.take(piece)) };
};

describe("server-sent events", () => {
  it("have a type and data; several lines of data are one text", () => {
    expect(read("event: added\ndata: one\ndata: two\n\ndata: {}\n\n").events).toEqual([
      { type: "added", data: "one\ntwo" },
      { type: "message", data: "{}" },
    ]);
  });

  it("lose exactly one blank after the colon", () => {
    expect(read("data:x\ndata:  y\ndata\ndata: a: b\n\n").events).toEqual([{ type: "message", data: "x\n y\n\na: b" }]);
  });

  it("end with an empty line, so an incomplete event is not delivered", () => {
    expect(read("data: whole\n\ndata: half\n").events).toEqual([{ type: "message", data: "whole" }]);
    expect(read("event: nothing\n\n: only a comment\n\n").events).toEqual([]);
  });

  it("say where to go on, and when", () => {
    const { reader } = read("id: 7\nretry: 1500\ndata: x\n\nid: 8\n\nid: 9\nretry: soon\ndata: y\n");
    expect(reader).toMatchObject({ lastId: "8", retryMs: 1500 });
    expect(read("id: a\0b\ndata: x\n\n").reader.lastId).toBe("");
  });

  it("may begin with a byte order mark", () => {
    expect(read("\uFEFFdata: x\n\n").events).toEqual([{ type: "message", data: "x" }]);
  });

  it("are the same wherever the network cuts them, with any of the three line ends", () => {
    const lines = ["event: added", 'data: {"ids":["ü🦫"]}', "", ": alive", "", "data: 1", "data: 2", "id: 5", "", ""];
    const ends = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(ends, fc.array(fc.nat(100), { maxLength: 12 }), (end, cuts) => {
        // After a lone CR at the very end the reader waits for an LF; the comment ends that wait.
        const text = `${lines.join(end)}:`;
        const places = [0, ...cuts.map((at) => at % text.length).sort((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((to, at) => text.slice(places[at], to));
        const { events, reader } = read(...pieces);
        expect(events).toEqual([
          { type: "added", data: '{"ids":["ü🦫"]}' },
          { type: "message", data: "1\n2" },
        ]);
        expect(reader.lastId).toBe("5");
      }),
    );
  });
});

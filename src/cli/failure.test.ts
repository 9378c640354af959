import { Writable } from "node:stream";
import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { reportFailure } from "./failure.js";
import type { Io } from "./io.js";
import { Printer } from "./output/printer.js";

/** stderr is a terminal if it has columns. */
interface Setting {
  readonly json?: boolean;
  readonly isTTY?: true;
  readonly columns?: number;
}

interface Reported {
  readonly code: number;
  readonly err: string;
}

function reported(error: unknown, { json = false, ...terminal }: Setting = {}): Reported {
  let err = "";
  const stderr = new Writable({
    write(chunk, _, done) {
      err += String(chunk);
      done();
    },
  });
  const io = { stdout: stderr, stderr: Object.assign(stderr, terminal), env: { NO_COLOR: "1" } } as unknown as Io;
  return { code: reportFailure(error, new Printer(io, json)), err };
}

describe("a failure is printed in two lines", () => {
  it.each([
    [new HoldfastError("conflict", "what", { hint: "do" }), 1],
    [new HoldfastError("invalid_input", "what", { hint: "do" }), 2],
    [new HoldfastError("not_found", "what", { hint: "do" }), 3],
    [new HoldfastError("forbidden", "what", { hint: "do" }), 4],
    [new HoldfastError("busy", "what", { hint: "do" }), 5],
    [new HoldfastError("store_failed", "what", { hint: "do" }), 70],
    [new CommanderError(1, "commander.unknownOption", "error: what\n(Do)"), 2],
  ])("%s ends with %d", (error, code) => {
    expect(reported(error)).toEqual({ code, err: "holdfast: what\n  do\n" });
  });

  it("of the system, by what it means", () => {
    const of = (code: string): number => reported(Object.assign(new Error("what"), { code })).code;
    expect(["ENOENT", "EACCES", "EISDIR", "EEXIST", "ENOSPC", "EWHATEVER"].map(of)).toEqual([3, 4, 2, 1, 70, 70]);
  });

  it("that is unexpected, as such", () => {
    expect(reported(new TypeError("what"))).toMatchObject({
      code: 70,
      err: expect.stringContaining("please report it"),
    });
    expect(reported("thrown text")).toMatchObject({
      code: 70,
      err: expect.stringContaining("holdfast: thrown text\n"),
    });
  });

  it("on one line each, for any message", () => {
    const { err } = reported(new HoldfastError("not_found", "no\n\u001b[31mfile", { hint: "a\nb" }));
    expect(err).toBe("holdfast: no\\n\\e[31mfile\n  a\\nb\n");
  });

  it("that are broken between words on a terminal, where they broke mid-word", () => {
    const error = new HoldfastError("not_found", "there is no memory here", { hint: "add something to create it" });
    const { err } = reported(error, { isTTY: true, columns: 20 });
    expect(err).toBe("holdfast: there is\nno memory here\n  add something to\n  create it\n");
    expect(reported(error).err).toBe("holdfast: there is no memory here\n  add something to create it\n");
  });
});

it("with --json it is one value, with all that a program needs", () => {
  const error = new HoldfastError("busy", "what", { hint: "do", details: { line: 3 } });
  const { err, code } = reported(error, { json: true });
  expect(code).toBe(5);
  expect(JSON.parse(err)).toEqual({
    error: { code: "busy", message: "what", hint: "do", retryable: true, details: { line: 3 } },
  });
});

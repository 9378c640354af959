import { expect, it } from "vitest";
import { checkArguments, type RawStrings } from "./raw-arguments.js";

const FFFD = Buffer.from("\uFFFD");
const refused = (what: string) =>
  expect.objectContaining({ code: "invalid_input", message: `${what} is not text in UTF-8`, hint: expect.any(String) });

const raw =
  (cmdline: readonly Buffer[], environ: readonly Buffer[] = []): RawStrings =>
  (name) =>
    name === "cmdline" ? cmdline : environ;

it("an argument that was not UTF-8 is refused by its place, and one that is U+FFFD is taken", () => {
  const before = [Buffer.from("node"), Buffer.from("holdfast"), Buffer.from("add")];
  const argv = ["add", "\uFFFD", "text", "\uFFFD"];
  const text = Buffer.from("text");
  const broken = Buffer.from([0xff]);
  expect(() => checkArguments(argv, {}, raw([...before, FFFD, text, FFFD]))).not.toThrow();
  expect(() => checkArguments(argv, {}, raw([...before, FFFD, text, broken]))).toThrow(refused("argument 4"));
  expect(() => checkArguments(argv, {}, raw([...before, broken, text, FFFD]))).toThrow(refused("argument 2"));
  expect(() => checkArguments(["add", "é"], {}, () => expect.unreachable("nothing is to be looked up"))).not.toThrow();
});

it("a HOLDFAST variable that was not UTF-8 is refused by name; others are ignored", () => {
  const env = { HOLDFAST_STORE_PATH: "\uFFFD.db", OTHER: "\uFFFD" };
  const other = Buffer.concat([Buffer.from("OTHER="), Buffer.from([0xff])]);
  const sound = Buffer.concat([Buffer.from("HOLDFAST_STORE_PATH="), FFFD, Buffer.from(".db")]);
  const broken = Buffer.concat([Buffer.from("HOLDFAST_STORE_PATH="), Buffer.from([0xff]), Buffer.from(".db")]);
  expect(() => checkArguments([], env, raw([], [other, sound]))).not.toThrow();
  expect(() => checkArguments([], env, raw([], [other, broken]))).toThrow(
    refused("the environment variable HOLDFAST_STORE_PATH"),
  );
});

it("where the bytes cannot be had, U+FFFD is refused", () => {
  expect(() => checkArguments(["\uFFFD"], {}, () => undefined)).toThrow(refused("argument 1"));
  expect(() => checkArguments([], { HOLDFAST_KEY: "\uFFFD" }, () => undefined)).toThrow(/HOLDFAST_KEY/);
});

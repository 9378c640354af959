/** What the writer does, in a form that both sides of the kill can compute: texts follow from numbers. */
import { createHash } from "node:crypto";
import type { NewMessage, Scope } from "holdfast";

/** Three users with three sessions each. Session names repeat between users, so that a mix-up would show. */
export const LANES: readonly Required<Pick<Scope, "user" | "agent" | "session">>[] = ["ada", "ben", "eva"].flatMap(
  (user) => ["monday", "tuesday", "friday"].map((session) => ({ user, agent: "tutor", session })),
);

/** Where a text comes from: the operation that wrote it, its place in there, and its length in characters. */
export interface Text {
  readonly op: number;
  readonly at: number;
  readonly size: number;
}

/** An add of one or more rounds: `add` for one round, `addBatch` for several. */
export interface AddOperation {
  readonly kind: "add";
  readonly op: number;
  readonly lane: number;
  /** Sizes of the messages, by round. */
  readonly rounds: readonly (readonly number[])[];
  /** How a retry is recognised: by an idempotency key, by the client's own ids, or not at all. */
  readonly retry: "key" | "ids" | "none";
}

export interface UpdateOperation {
  readonly kind: "update";
  readonly op: number;
  readonly lane: number;
  readonly id: string;
  readonly version: number;
  readonly size: number;
}

export interface DeleteOperation {
  readonly kind: "delete";
  readonly op: number;
  readonly lane: number;
  readonly ids: readonly string[];
}

/** Forgets the lane's whole session. */
export interface ForgetOperation {
  readonly kind: "forget";
  readonly op: number;
  readonly lane: number;
}

export type Operation = AddOperation | UpdateOperation | DeleteOperation | ForgetOperation;

/** What the writer was told when its call returned. */
export interface Answer {
  readonly ids?: readonly string[];
  readonly sequences?: readonly number[];
  readonly repeated?: boolean;
  readonly version?: number;
  /** Nothing of what was forgotten is left in the file. */
  readonly purged?: boolean;
}

const LETTERS = "bcdfghjklmnpqrtv";
const FILLER = "the quiet river carries small boats past old houses while children count clouds and birds ".split(" ");

/** A word that no other text contains. It has no vowels, so that no analysis can shorten it to another one's stem. */
export function wordOf({ op, at }: Text): string {
  const digits = (op * 1_000 + at).toString(16);
  return `z${[...digits].map((digit) => LETTERS[Number.parseInt(digit, 16)]).join("")}`;
}

export function textOf(text: Text): string {
  let content = `${wordOf(text)} said`;
  for (let at = text.op % FILLER.length; content.length < text.size; at++) content += ` ${FILLER[at % FILLER.length]}`;
  return content;
}

export function digest(content: string): string {
  return createHash("sha1").update(content).digest("base64").slice(0, 12);
}

/** The texts of an add, by round; `at` counts through all of them. */
export function textsOf({ op, rounds }: AddOperation): Text[][] {
  let at = 0;
  return rounds.map((sizes) => sizes.map((size) => ({ op, at: at++, size })));
}

export const clientId = ({ op, at }: Text): string => `note-${op}-${at}`;

export function messagesOf(operation: AddOperation): NewMessage[][] {
  return textsOf(operation).map((texts) =>
    texts.map((text) => ({
      role: text.at % 2 === 0 ? "user" : "assistant",
      content: textOf(text),
      metadata: { op: text.op, at: text.at },
      ...(operation.retry === "ids" && { id: clientId(text) }),
    })),
  );
}

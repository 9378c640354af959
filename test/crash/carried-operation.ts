/**
 * What the writer does with what agents edit and carry: blocks, facts, windows, turns. Texts follow from the number of the
 * operation, so that both sides of the kill know them; facts are named by their texts.
 */
import type { Scope } from "holdfast";
import { textOf } from "./operation.js";

/** Six users, each with a space and a session of its own. In a lane one thing happens at a time. */
export const CARRIED_LANES: readonly Required<Pick<Scope, "user" | "agent" | "session">>[] = [
  ...["ada", "ben", "eva", "kim", "lea", "tom"],
].map((user) => ({ user, agent: "tutor", session: "monday" }));

export type CarriedOperation = { readonly op: number; readonly lane: number } & (
  | { readonly kind: "create" | "drop"; readonly name: string }
  /** Adds a line, or leaves nothing but one line. */
  | { readonly kind: "edit"; readonly name: string; readonly how: "append" | "rewrite" }
  /** A new fact, which may take the place of another one. */
  | { readonly kind: "learn"; readonly supersedes?: string }
  /** The same fact again, with another confidence; one that was retracted stays so. */
  | { readonly kind: "repeat" | "end" | "retract"; readonly fact: string }
  /** A context with room for all that there is; then the window is full of it, or empty again. */
  | { readonly kind: "context" | "reset" }
  /** A message, a fact that rests on it, a line in a block, and a point with the id of the block, together. */
  | { readonly kind: "turn"; readonly name: string }
  /** Forgets the whole space, in as many transactions as it takes. */
  | { readonly kind: "forget" }
);

export type CarriedKind = CarriedOperation["kind"];

/** What the writer was told when its call returned. */
export interface CarriedAnswer {
  /** Of a block. */
  readonly version?: number;
  /** Of the message of a turn. */
  readonly sequence?: number;
  /** Texts that a context has given and withdrawn, and what it could not do. */
  readonly given?: readonly string[];
  readonly withdrawn?: readonly string[];
  readonly trouble?: string;
}

/** A word that is in every message, every fact and every line. */
export const COMMON = "river";

const sizeOf = (op: number): number => (op % 5 === 0 ? 600 : 40);

export const messageOf = (op: number): string => `${textOf({ op, at: 0, size: sizeOf(op) })} ${COMMON}`;
export const factOf = (op: number): string => `${textOf({ op, at: 1, size: 40 })} ${COMMON}`;
export const lineOf = (op: number): string => `${textOf({ op, at: 2, size: sizeOf(op) })} ${COMMON}`;
export const reasonOf = (op: number): string => `operation ${op}`;
export const messageId = (op: number): string => `note-${op}`;
/** A point's vector and payload. */
export const vectorOf = (op: number): readonly number[] => [1, op, ...Array.from({ length: 300 }, (_, at) => at)];
export const payloadOf = (op: number) => ({ reason: reasonOf(op) });
export const POINTS = "points";
export const confidenceOf = (op: number): number => (op % 10) / 10;

/** Some blocks have room for their head only: every line that is added to them overflows, and becomes an item. */
export const isArchive = (name: string): boolean => name.startsWith("archive");
export const HEAD_TOKENS = 48;
/** Fills the room but for the end of its line. */
export const headOf = (op: number): string => textOf({ op, at: 3, size: 40 }).padEnd(4 * HEAD_TOKENS - 2, "a");

const START = Date.UTC(2020, 0, 1);
const END = Date.UTC(2025, 0, 1);

/** When an operation has its fact begin or end. */
export const timeOf = (op: number): number => START + op * 1_000;

/** The operation that said so; 0 if it left the time to the clock. */
export const operationAt = (time: number): number => (time < END ? (time - START) / 1_000 : 0);

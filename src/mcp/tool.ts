/**
 * Tool: one thing that a model can do with its memory, as it is told to the model and as it is done.
 *
 * A tool never takes a scope from the model: the session that it is given is bound to one. Its input and its output are
 * made of the same schemas as the HTTP routes.
 */
import type { z } from "zod";
import type { MemoryHandle } from "../memory.js";
import type { Frozen } from "../schemas/operation.js";
import type { Session } from "../session.js";
import type { Access } from "../stores/keys.js";

/** What a tool works with. */
export interface Workplace {
  readonly session: Session;
  readonly memory: MemoryHandle;
  /** No answer is longer than this, its text and its structured content each, as `estimateTokens` counts. */
  readonly maxTokens: number;
  /** For tools that do both, read and write. */
  may(access: Access): boolean;
  /** Throws (`forbidden`) where the caller may not. */
  require(access: Access): void;
}

/** The same to a program (`data`) and to a model (`text`). */
export interface Answer<T> {
  readonly data: T;
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For a model: when to use it, what comes back, what not to do. */
  readonly description: string;
  /** What a key must allow. A caller that may not is not shown the tool. */
  readonly access: Access;
  /** True: it takes something away. */
  readonly isDestructive?: true;
  /** True: a second call with the same input changes nothing more. */
  readonly isIdempotent?: true;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  run(place: Workplace, input: never): Promise<Answer<unknown>>;
}

interface TypedTool<I extends z.ZodObject, O extends z.ZodObject> extends Tool {
  readonly input: I;
  readonly output: O;
  run(place: Workplace, input: z.output<I>): Promise<Answer<Frozen<z.output<O>>>>;
}

/** Keeps the types of the schemas. */
export const tool = <I extends z.ZodObject, O extends z.ZodObject>(one: TypedTool<I, O>): Tool => one as Tool;

/** Something to read by its address, that is no block. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  read(place: Workplace): Promise<string>;
}

export interface Guide {
  /** With every connection: clients put it into the system prompt. */
  readonly instructions: string;
  /** At length, as a prompt. */
  readonly prompt: { readonly name: string; readonly title: string; readonly description: string };
  text(task: string | undefined): string;
}

/** What is offered together. A tool of the group that writes may change each of its resources. */
export interface ToolGroup {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly resources?: readonly Resource[];
  /** What a model is taught about it. */
  readonly guide?: Guide;
  /** How its failures are told, if not as everywhere (failure.ts). */
  readonly failureText?: (error: unknown) => string;
}

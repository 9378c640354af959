/**
 * Tool: one thing that a model can do with its memory: the description for the model, and the implementation.
 *
 * A tool never takes a scope from the model; its session is bound to one. Input and output use the schemas of the HTTP
 * routes.
 */
import type { z } from "zod";
import type { MemoryHandle } from "../memory.js";
import type { Frozen } from "../schemas/operation.js";
import type { Session } from "../session.js";
import type { Access } from "../stores/keys.js";

/** The environment of a tool call. */
export interface ToolContext {
  readonly session: Session;
  readonly memory: MemoryHandle;
  /** Limit of the text and of the structured content, each as counted by `estimateTokens`. */
  readonly maxTokens: number;
  /** For tools that can both read and write. */
  may(access: Access): boolean;
  /** Throws `forbidden` if the caller may not. */
  require(access: Access): void;
}

/** The same answer for programs (`data`) and for the model (`text`). */
export interface Answer<T> {
  readonly data: T;
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model: when to use it, what it returns, what not to do. */
  readonly description: string;
  /** The access that a key needs. Other callers do not see the tool. */
  readonly access: Access;
  /** True if it deletes something. */
  readonly isDestructive?: true;
  /** True if a second call with the same input changes nothing more. */
  readonly isIdempotent?: true;
  /** True if it only reads, but records for callers that may write what it has answered. */
  readonly isRecording?: true;
  /** Other names for keys of the input, which models know from other tools. They are not in the description. */
  readonly aliases?: { readonly [key: string]: string };
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  run(place: ToolContext, input: never): Promise<Answer<unknown>>;
}

interface TypedTool<I extends z.ZodObject, O extends z.ZodObject> extends Tool {
  readonly input: I;
  readonly output: O;
  run(place: ToolContext, input: z.output<I>): Promise<Answer<Frozen<z.output<O>>>>;
}

/** Preserves the types of the schemas. */
export const tool = <I extends z.ZodObject, O extends z.ZodObject>(one: TypedTool<I, O>): Tool => one as Tool;

/** A resource that is not a block. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  read(place: ToolContext): Promise<string>;
}

export interface Guide {
  /** Sent with every connection; clients put it into the system prompt. */
  readonly instructions: string;
  /** In detail, as a prompt. */
  readonly prompt: { readonly name: string; readonly title: string; readonly description: string };
  text(task: string | undefined): string;
}

/** Tools that are offered together. A tool of the group that writes may change any of its resources. */
export interface ToolGroup {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly resources?: readonly Resource[];
  /** Instructions for the model. */
  readonly guide?: Guide;
  /** Formats its errors, if not as usual (failure.ts). */
  readonly failureText?: (error: unknown) => string;
}

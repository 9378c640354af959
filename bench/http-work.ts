/** Request bodies, and messages between the benchmark and its server. */
import type { NewMessage } from "holdfast";
import { loadData } from "./data.js";

export type Kind = "add" | "query";

export type Order =
  | { readonly kind: "reset" | "delay" | "items" | "stop" }
  | { readonly kind: "direct"; readonly work: Kind; readonly calls: number; readonly ms: number };

export type Told =
  | { readonly kind: "ready"; readonly port: number }
  | { readonly kind: "reset" }
  | { readonly kind: "delay"; readonly p99Ms: number }
  | { readonly kind: "items"; readonly count: number }
  | { readonly kind: "direct"; readonly perSecond: number };

export const USERS = 20;
export const userOf = (number: number): string => `user-${Math.floor(number) % USERS}`;

const data = loadData(undefined);

export type Body = { readonly messages: readonly NewMessage[] } | { readonly query: string; readonly topK: number };

/** The n-th body. All questions differ, so none is answered from the cache. */
export function bodyOf(work: Kind, number: number): Body {
  const [line] = data.take(number % 20_000, 1);
  const text = String(line?.message.content ?? "");
  if (work === "add") return { messages: [{ role: "user", content: text }] };
  return { query: `${text.split(" ").slice(0, 8).join(" ")} n${number}`, topK: 5 };
}

/** Prints what was forgotten. */
import type { ForgetReceipt } from "../../types.js";
import type { Call } from "../call.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";

const COUNTS = [
  ["items", "item"],
  ["sessions", "session"],
  ["entries", "entry"],
  ["blocks", "block"],
  ["facts", "fact"],
  ["points", "point"],
] as const;

export async function printReceipt(call: Call, receipt: ForgetReceipt): Promise<void> {
  const { printer } = call;
  if (printer.json) return printer.value(receipt);
  const counts = COUNTS.flatMap(([key, noun]) => (receipt[key] > 0 ? [counted(receipt[key], noun)] : []));
  await printer.line(counts.length > 0 ? `forgotten: ${counts.join(", ")}` : "nothing to forget");
  if (counts.length > 0 && receipt.purged) printer.note(styled("dim", "their bytes were erased from the file"));
  for (const id of receipt.missing) printer.note(styled("yellow", `not found: ${id}`));
  for (const { what, why } of receipt.left) printer.note(styled("yellow", `left: ${what}: ${why}`));
}

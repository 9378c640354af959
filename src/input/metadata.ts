import type { Metadata } from "../types.js";
import { copyJson } from "./json.js";
import { METADATA_BYTES_MAX } from "./limits.js";
import { wrongType } from "./refusal.js";

const RULES = {
  bytesMax: METADATA_BYTES_MAX,
  tooLargeHint: "metadata is for filtering: put long text into the content of a message",
  dropUndefined: false,
};

/** The metadata of an item without any. */
export const NO_METADATA: Metadata = Object.freeze({});

export function parseMetadata(value: unknown, where: string): Metadata {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrongType(where, "a plain JSON object", value);
  }
  return copyJson(value, where, RULES) as Metadata;
}

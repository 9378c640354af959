/**
 * The secret of a key: `hf_<id>_<256 random bits>`.
 *
 * The secret contains the id so that a key is looked up by index instead of by trying all hashes. The id is hex: short,
 * case-insensitive, and without the `_` that ends it. Only the hash of the whole text is stored; a fast hash is enough for
 * 256 random bits.
 */
import { createHash, randomBytes } from "node:crypto";

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const FORM = /^hf_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
const LENGTH = "hf_".length + 16 + "_".length + 43;

export interface NewSecret {
  readonly id: string;
  readonly secret: string;
}

export function newSecret(): NewSecret {
  const id = randomBytes(ID_BYTES).toString("hex");
  return { id, secret: `hf_${id}_${randomBytes(SECRET_BYTES).toString("base64url")}` };
}

/** The id in a secret; undefined if the value is not a secret. */
export function idIn(secret: unknown): string | undefined {
  if (typeof secret !== "string" || secret.length !== LENGTH) return undefined;
  return FORM.exec(secret)?.[1];
}

export function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

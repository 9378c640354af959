/**
 * Sealed cursors: encrypted positions in lists. A position consists of the store's own numbers, which count everyone's
 * writes, so a client must not be able to read, forge or compare cursors.
 *
 * A cursor is bound to one list: the same spaces, the same order. Any other list rejects it. It stays valid for the
 * lifetime of the store, in every process that uses it.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { HoldfastError } from "../errors.js";

/** Identifies a list: its name and everything it is bound to. */
export type ListName = readonly [name: string, ...of: readonly (string | number | undefined)[]];
type KeysetPosition = readonly [number, number?];

export const SECRET_BYTES = 32;
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Two doubles, whether or not the second is used, so that the length reveals nothing. */
const PLACE_BYTES = 16;

export class Cursors {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array = randomBytes(SECRET_BYTES)) {
    this.#secret = secret;
  }

  seal(list: ListName, [first, second = 0]: KeysetPosition): string {
    const place = Buffer.alloc(PLACE_BYTES);
    place.writeDoubleBE(first, 0);
    place.writeDoubleBE(second, 8);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#secret, nonce).setAAD(nameOf(list));
    return Buffer.concat([nonce, cipher.update(place), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  }

  /** Throws `invalid_input` for anything but a cursor of this list. */
  open(list: ListName, cursor: string): readonly [number, number] {
    const bytes = Buffer.from(String(cursor), "base64url");
    if (bytes.length !== NONCE_BYTES + PLACE_BYTES + TAG_BYTES) throw notOfThisList();
    const decipher = createDecipheriv(CIPHER, this.#secret, bytes.subarray(0, NONCE_BYTES)).setAAD(nameOf(list));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const place = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return [place.readDoubleBE(0), place.readDoubleBE(8)];
    } catch {
      throw notOfThisList(); // sealed for another list, or forged
    }
  }
}

const nameOf = (list: ListName): Buffer => Buffer.from(JSON.stringify(list));

const notOfThisList = (): HoldfastError =>
  new HoldfastError("invalid_input", "the cursor is not one of this list", {
    hint: "pass the `next` of the previous page, with the same options, or omit it to start over",
    details: { field: "cursor" },
  });

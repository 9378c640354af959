/**
 * KeyRing: authenticates a request by its API key. It reads the store every time (tens of microseconds), so a key that any
 * process revokes is refused from then on.
 */

import { Caller } from "../calls/caller.js";
import { HoldfastError } from "../errors.js";
import type { ApiKeys } from "../keys/api-keys.js";

const ANYONE = new Caller();

export class KeyRing {
  readonly #keys: Pick<ApiKeys, "verify">;
  readonly #isRequired: boolean;

  constructor(keys: Pick<ApiKeys, "verify">, isRequired: boolean) {
    this.#keys = keys;
    this.#isRequired = isRequired;
  }

  /** The caller of a request with this `Authorization` header. Rejects with `unauthorized`. */
  async callerOf(authorization: string | undefined): Promise<Caller> {
    if (authorization === undefined) {
      if (!this.#isRequired) return ANYONE;
      throw unauthorized("this server requires an API key");
    }
    const secret = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    const key = secret === undefined ? undefined : await this.#keys.verify(secret);
    if (!key) throw unauthorized("the API key is not valid");
    return new Caller(key);
  }
}

const unauthorized = (message: string): HoldfastError =>
  new HoldfastError("unauthorized", message, {
    hint: "send Authorization: Bearer <key>; create one with `holdfast key create`",
  });

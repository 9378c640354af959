/**
 * KeyRing: tells who sent a request by the key it carries. It asks the store every time (tens of microseconds), so a key
 * that any process revokes opens nothing from then on.
 */
import { HoldfastError } from "../errors.js";
import type { ApiKeys } from "../keys/api-keys.js";
import { Caller } from "./caller.js";

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
      throw unauthorized("this server asks for an API key");
    }
    const secret = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    const key = secret === undefined ? undefined : await this.#keys.verify(secret);
    if (!key) throw unauthorized("the API key is not valid");
    return new Caller(key);
  }
}

const unauthorized = (message: string): HoldfastError =>
  new HoldfastError("unauthorized", message, {
    hint: "send Authorization: Bearer <key>; `holdfast key create` makes one",
  });

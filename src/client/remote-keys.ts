/** The API keys of a server, for admins. */

import { parseWriteOptions, type WriteOptions } from "../input/call.js";
import { parseIdentity } from "../input/identity.js";
import type { PageOptions } from "../input/page.js";
import type { CreatedKey } from "../keys/api-keys.js";
import type { NewKey } from "../keys/key-input.js";
import type { ApiKey } from "../stores/keys.js";
import type { Page } from "../types.js";
import { withTimes } from "./outgoing.js";
import type { Transport } from "./transport.js";

/** The API keys of the server; only for admins. */
export class RemoteKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The secret is returned here and nowhere else. */
  async create(key: NewKey, options?: WriteOptions): Promise<CreatedKey> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("createKey", { body: withTimes(key, "key"), idempotencyKey });
  }

  /** In order of creation, including revoked and expired keys. */
  async list({ limit, cursor }: PageOptions = {}): Promise<Page<ApiKey>> {
    return this.#transport.call("listKeys", { query: { limit, cursor } });
  }

  /** The key is refused from now on. */
  async revoke(id: string): Promise<ApiKey> {
    return this.#transport.call("revokeKey", { params: { id: parseIdentity(id, "id") } });
  }
}

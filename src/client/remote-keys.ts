/** The API keys of a server, for admins. */

import { parseIdentity } from "../input/identity.js";
import type { PageOptions } from "../input/page.js";
import type { CreatedKey } from "../keys/api-keys.js";
import type { NewKey } from "../keys/key-input.js";
import type { ApiKey } from "../stores/keys.js";
import type { Page } from "../types.js";
import { withTimes } from "./outgoing.js";
import type { Transport } from "./transport.js";

export class RemoteKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The secret is in this answer and in no other. */
  async create(key: NewKey): Promise<CreatedKey> {
    return this.#transport.call("createKey", { body: withTimes(key, "key") });
  }

  /** In the order of their making, revoked and expired ones too. */
  async list({ limit, cursor }: PageOptions = {}): Promise<Page<ApiKey>> {
    return this.#transport.call("listKeys", { query: { limit, cursor } });
  }

  /** From now on it opens nothing. */
  async revoke(id: string): Promise<ApiKey> {
    return this.#transport.call("revokeKey", { params: { id: parseIdentity(id, "id") } });
  }
}

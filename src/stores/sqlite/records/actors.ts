/** The actor signatures in the logs, inside a write transaction. */

import { signatureOf, signaturesOf } from "../../../actor.js";
import type { SpaceRef } from "../../../types.js";
import type { Database, Statement } from "../file/driver.js";
import type { Residue } from "../rows/residue.js";

const LOGS = ["block_edit", "promotion"] as const;

export class Actors {
  readonly #residue: Residue;
  readonly #sign: readonly Statement[];

  constructor(database: Database, residue: Residue) {
    this.#residue = residue;
    this.#sign = LOGS.map((log) => database.prepare(`UPDATE ${log} SET actor = ? WHERE actor = ?`));
  }

  rename(from: SpaceRef, to: SpaceRef): void {
    this.#replace(signatureOf(from), signatureOf(to));
  }

  forget(space: SpaceRef): void {
    for (const signature of signaturesOf(space)) this.#replace(signature, null);
  }

  #replace(before: string, after: string | null): void {
    this.#residue.remember({ actor: before });
    for (const statement of this.#sign) statement.run(after, before);
  }
}

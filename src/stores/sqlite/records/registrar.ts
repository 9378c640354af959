/** Registers and amends registry entries inside a write transaction. */
import { HoldfastError } from "../../../errors.js";
import type { SpaceKind, SpaceRef } from "../../../types.js";
import type { AmendWrite, Done, RegisterWrite } from "../../store.js";
import type { Database } from "../file/driver.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";
import type { Actors } from "./actors.js";

export class Registrar {
  readonly #database: Database;
  readonly #registry: Registry;
  readonly #actors: Actors;
  readonly #residue: Residue;

  constructor(database: Database, registry: Registry, actors: Actors, residue: Residue) {
    this.#database = database;
    this.#registry = registry;
    this.#actors = actors;
    this.#residue = residue;
  }

  register({ entry, create }: RegisterWrite, transaction: Transaction): Done {
    const registry = this.#registry;
    if (entry.kind === "session") {
      const space = registry.ensureSpace(entry.space, transaction);
      const found = registry.findSession(space, entry.name);
      if (found && create === "new") throw nameTaken("session", registry.sessionEntry(found.key).id);
      if (found) return { op: "register", entry: registry.sessionEntry(found.key), created: false };
      const agent = entry.agent === undefined ? null : registry.ensureSpace({ agent: entry.agent }, transaction);
      const { key } = registry.createSession(space, entry.name, agent, transaction);
      return { op: "register", entry: registry.sessionEntry(key), created: true };
    }
    const found = registry.findSpace(refOf(entry.kind, entry.name));
    if (found && create === "new") throw nameTaken(entry.kind, registry.entry(found.key).id);
    if (found) return { op: "register", entry: registry.entry(found.key), created: false };
    const key = registry.createSpace(entry.kind, entry.name, entry.description, transaction);
    return { op: "register", entry: registry.entry(key), created: true };
  }

  amend({ entry, ...change }: AmendWrite, transaction: Transaction): Done {
    return entry.kind === "session"
      ? this.#amendSession(entry.space, entry.name, change.name ?? entry.name, transaction)
      : this.#amendSpace(entry.kind, entry.name, change, transaction);
  }

  #amendSession(ref: SpaceRef, name: string, to: string, transaction: Transaction): Done {
    const space = this.#registry.findSpace(ref);
    const session = space && this.#registry.findSession(space.key, name);
    if (!session) throw noEntry("session");
    if (to !== name) {
      const taken = this.#registry.findSession(space.key, to);
      if (taken) throw nameTaken("session", this.#registry.sessionEntry(taken.key).id);
      const update = this.#database.prepare("UPDATE session SET name = ?, updated_at = ? WHERE key = ?");
      update.run(to, transaction.now, session.key);
      this.#residue.remember({ name });
      transaction.touch(space.key);
    }
    return { op: "amend", entry: this.#registry.sessionEntry(session.key) };
  }

  #amendSpace(kind: SpaceKind, name: string, change: Omit<AmendWrite, "op" | "entry">, transaction: Transaction): Done {
    const space = this.#registry.findSpace(refOf(kind, name));
    if (!space) throw noEntry(kind);
    const before = this.#registry.entry(space.key);
    const to = change.name ?? name;
    const description = change.description === undefined ? (before.description ?? null) : change.description;
    const retention = change.retentionMs === undefined ? (before.retentionMs ?? null) : change.retentionMs;
    const renamed = to !== name;
    const same = !renamed && description === (before.description ?? null) && retention === (before.retentionMs ?? null);
    if (!same) {
      const taken = renamed && this.#registry.findSpace(refOf(kind, to));
      if (taken) throw nameTaken(kind, this.#registry.entry(taken.key).id);
      this.#database
        .prepare("UPDATE space SET name = ?, description = ?, retention_ms = ?, updated_at = ? WHERE key = ?")
        .run(to, description, retention, transaction.now, space.key);
      this.#residue.remember({ name, description: before.description ?? null });
      transaction.touch(space.key);
      if (renamed) this.#actors.rename(refOf(kind, name), refOf(kind, to));
      if (renamed && kind === "agent") this.#registry.touchWhereNamed(space.key, transaction);
    }
    return { op: "amend", entry: this.#registry.entry(space.key) };
  }
}

const refOf = (kind: SpaceKind, name: string): SpaceRef => ({ [kind]: name }) as unknown as SpaceRef;

function nameTaken(kind: string, id: string): HoldfastError {
  return new HoldfastError("conflict", `a ${kind} of this name already exists`, {
    hint: "choose another name, or use the existing one",
    details: { id },
  });
}

function noEntry(kind: string): HoldfastError {
  return new HoldfastError("not_found", `there is no such ${kind}`, { hint: "check the name; names are exact" });
}

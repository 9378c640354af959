/**
 * Caller: who sent a request, and what it may touch. Every check of a key's scope is here.
 *
 * Where no key is asked for, and none is given, the caller may do everything. A key that is given always counts.
 */
import { HoldfastError } from "../errors.js";
import { parseScope } from "../input/scope.js";
import { allows, covers, mayActAs } from "../keys/coverage.js";
import type { Access, ApiKey } from "../stores/keys.js";
import type { Scope, SpaceKind, SpaceRef } from "../types.js";

export class Caller {
  /** Absent: there are no limits. */
  readonly key: ApiKey | undefined;

  constructor(key?: ApiKey) {
    this.key = key;
  }

  get isAdmin(): boolean {
    return this.may("admin");
  }

  may(access: Access): boolean {
    return !this.key || allows(this.key, access);
  }

  covers(space: SpaceRef): boolean {
    return !this.key || covers(this.key, space);
  }

  /** Whether it may see every space of this kind. */
  coversAll(kind: SpaceKind): boolean {
    return !this.key || this.key.spaces.includes(kind);
  }

  /** The spaces of this kind that the key names one by one. */
  named(kind: SpaceKind): readonly SpaceRef[] {
    return (this.key?.spaces ?? []).filter((space): space is SpaceRef => typeof space === "object" && kind in space);
  }

  mayActAs(agent: string): boolean {
    return !this.key || mayActAs(this.key, agent);
  }

  require(access: Access): void {
    if (!this.may(access)) {
      throw forbidden(`this key does not allow ${access}`, `use a key with ${access} access`);
    }
  }

  requireSpace(space: SpaceRef): void {
    if (!this.covers(space)) throw forbidden("this key does not cover the space", HINT);
  }

  requireAgent(agent: string): void {
    if (!this.mayActAs(agent)) throw forbidden("this key does not cover the agent", HINT);
  }

  /** Whoever is bound to agents signs as one of them. */
  requireActor(actor: string): void {
    if (!this.mayActAs(actor.replace(/^agent /, ""))) throw forbidden("this key may not sign as this actor", HINT);
  }

  /** The scope's own space, and the agent that it says it is. */
  requireScope(scope: Scope): void {
    const { space, agent } = parseScope(scope);
    this.requireSpace(space);
    if (agent !== undefined && !("agent" in space)) this.requireAgent(agent);
  }
}

const HINT = "name a space that the key covers, or use another key";

const forbidden = (message: string, hint: string): HoldfastError => new HoldfastError("forbidden", message, { hint });

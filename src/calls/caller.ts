/**
 * Caller: who sent a request and what it may access. Every check of a key's coverage is here.
 *
 * If the server requires no key and the request has none, the caller may do everything. A key that is sent always counts.
 */
import { HoldfastError } from "../errors.js";
import { parseScope } from "../input/scope.js";
import { allows, covers, isBound, mayActAs } from "../keys/coverage.js";
import type { Access, ApiKey } from "../stores/keys.js";
import type { Signer } from "../transfer/import-options.js";
import type { Scope, SpaceKind, SpaceRef } from "../types.js";

/** What a caller may do, and where. */
export interface Rights {
  /** What it may do. */
  readonly access: Access;
  /** Single spaces, or every space of a kind. */
  readonly spaces: ApiKey["spaces"];
  /** The key that it sent; absent if it needed none. */
  readonly key?: Pick<ApiKey, "id" | "name" | "expiresAt">;
}

const KINDS: readonly SpaceKind[] = ["user", "agent", "team"];

export class Caller {
  /** Undefined: no limits. */
  readonly key: ApiKey | undefined;

  constructor(key?: ApiKey) {
    this.key = key;
  }

  /** What the caller may do, as the API reports it. */
  get rights(): Rights {
    const { access = "admin", spaces = KINDS, id, name, expiresAt } = this.key ?? {};
    return {
      access,
      spaces,
      ...(id !== undefined && {
        key: { id, ...(name !== undefined && { name }), ...(expiresAt !== undefined && { expiresAt }) },
      }),
    };
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

  /** Whether the caller may see every space of this kind. */
  coversAll(kind: SpaceKind): boolean {
    return !this.key || this.key.spaces.includes(kind);
  }

  /** The spaces of this kind that the key names individually. */
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

  /** A caller that is bound to agents may sign only as one of them. */
  maySign(actor: string): boolean {
    return this.mayActAs(actor.replace(/^agent /, ""));
  }

  requireActor(actor: string): void {
    if (!this.maySign(actor)) throw forbidden("this key may not sign as this actor", HINT);
  }

  /** How a caller that is bound to agents signs: as the scope's agent, or as the only agent that its key names. */
  signer({ agent }: Scope): Signer | undefined {
    if (!this.key || !isBound(this.key)) return undefined;
    const [only, ...others] = this.named("agent");
    const own = agent ?? (only && "agent" in only && others.length === 0 ? only.agent : undefined);
    return { ...(own !== undefined && { own: `agent ${own}` }), may: (actor) => this.maySign(actor) };
  }

  /** Requires the scope's space and its agent. */
  requireScope(scope: Scope): void {
    const { space, agent } = parseScope(scope);
    this.requireSpace(space);
    if (agent !== undefined && !("agent" in space)) this.requireAgent(agent);
  }
}

const HINT = "name a space that the key covers, or use another key";

const forbidden = (message: string, hint: string): HoldfastError => new HoldfastError("forbidden", message, { hint });

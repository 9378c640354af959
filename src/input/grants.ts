/** Grants: the spaces that a caller may read, which are those that its scope names and those granted to it. */
import { HoldfastError } from "../errors.js";
import type { Scope, SpaceRef } from "../types.js";
import { objectWith, wrongType } from "./refusal.js";
import { parseSpace } from "./scope.js";

/** The options of `memory.session`. */
export interface SessionOptions {
  /** Spaces that the session may read and promote into, in addition to those that the scope names. */
  readonly grants?: readonly SpaceRef[];
}

const KEYS: ReadonlySet<string> = new Set(["grants"]);

export class Grants {
  readonly #spaces: readonly SpaceRef[];
  /** Built on first use: most sessions name no space other than their own. */
  #names: ReadonlySet<string> | undefined;

  constructor({ user, agent, team }: Scope, options: SessionOptions) {
    const { grants = [] } = objectWith(options ?? {}, KEYS, "options");
    if (!Array.isArray(grants)) throw wrongType("grants", "a list of spaces", grants, 'for example [{ team: "crew" }]');
    const spaces = Array.from(grants, (space, at) => parseSpace(space, `grants[${at}]`));
    if (user !== undefined) spaces.push({ user });
    if (agent !== undefined) spaces.push({ agent });
    if (team !== undefined) spaces.push({ team });
    this.#spaces = spaces;
  }

  /** Throws if a space is not granted. Values that are not spaces are left to the parser that reads them. */
  check(spaces: readonly SpaceRef[] | undefined): void {
    if (!Array.isArray(spaces)) return;
    for (const [at, space] of spaces.entries()) this.checkOne(space, `spaces[${at}]`);
  }

  checkOne(space: SpaceRef, where: string): void {
    this.#names ??= new Set(this.#spaces.map(nameOf));
    if (this.#names.has(nameOf(space))) return;
    parseSpace(space, where);
    throw new HoldfastError("forbidden", `${where} was not granted to this session`, {
      hint: "name it in the scope, or grant it: memory.session(scope, { grants: [space] })",
      details: { space },
    });
  }
}

/** Lists the keys in a fixed order, so that a space has one name. */
function nameOf(space: SpaceRef): string {
  const { user, agent, team } = (space ?? {}) as { user?: unknown; agent?: unknown; team?: unknown };
  return JSON.stringify([user ?? null, agent ?? null, team ?? null]);
}

/**
 * Random keys, renames and forgets, compared with a plain model in which a key refers to users, not to names: whatever
 * happens to the names, the store reports the users of each key. Each run has its own users and keys.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { KeySpace } from "../../stores/keys.js";
import type { Write } from "../../stores/store.js";
import type { Check } from "./check.js";
import { putting } from "./keys.js";
import type { Probe } from "./probe.js";

const RUNS = 60;
const NAMES = ["ada", "bob", "cy"] as const;
const KEYS = ["k0", "k1", "k2"] as const;
const name = fc.constantFrom(...NAMES);
const key = fc.constantFrom(...KEYS);
const ALL = "user";

type Operation =
  | { readonly do: "put"; readonly key: string; readonly names: readonly string[] }
  | { readonly do: "revoke"; readonly key: string }
  | { readonly do: "rename"; readonly name: string; readonly to: string }
  | { readonly do: "forget"; readonly name: string; readonly entry: boolean }
  | { readonly do: "add"; readonly name: string };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      key,
      names: fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: name }, fc.constant(ALL)), { minLength: 1 }),
    }),
  },
  fc.record({ do: fc.constant("revoke" as const), key }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant("rename" as const), name, to: name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("forget" as const), name, entry: fc.boolean() }) },
  fc.record({ do: fc.constant("add" as const), name }),
);

interface Person {
  /** Undefined if forgotten. */
  name: string | undefined;
}

class PlainKeys {
  readonly #people: Person[] = [];
  readonly #keys = new Map<string, { readonly named: readonly (Person | typeof ALL)[]; isRevoked: boolean }>();

  /** Whether the operation succeeds. */
  apply(operation: Operation): boolean {
    switch (operation.do) {
      case "put": {
        if (this.#keys.has(operation.key)) return false;
        const named = operation.names.map((name) => (name === ALL ? ALL : this.#ensure(name)));
        this.#keys.set(operation.key, { named, isRevoked: false });
        return true;
      }
      case "revoke": {
        const found = this.#keys.get(operation.key);
        if (found) found.isRevoked = true;
        return found !== undefined;
      }
      case "rename": {
        const person = this.#find(operation.name);
        const holder = this.#find(operation.to);
        if (!person || (holder && holder !== person)) return false;
        person.name = operation.to;
        return true;
      }
      case "forget": {
        const person = this.#find(operation.name);
        if (person && operation.entry) person.name = undefined;
        return true;
      }
      case "add":
        this.#ensure(operation.name);
        return true;
    }
  }

  /** The state of a key: the users it names, whether it has lost one, whether it is revoked. */
  key(id: string) {
    const found = this.#keys.get(id);
    if (!found) return undefined;
    const names = found.named.flatMap((named) => (named === ALL ? ALL : (named.name ?? [])));
    return { names, hasLost: names.length < found.named.length, isRevoked: found.isRevoked };
  }

  /** The keys of the user who has this name now. */
  naming(name: string): readonly string[] {
    const person = this.#find(name);
    return [...this.#keys].filter(([, { named }]) => person && named.includes(person)).map(([id]) => id);
  }

  #find(name: string): Person | undefined {
    return this.#people.find((person) => person.name === name);
  }

  #ensure(name: string): Person {
    const found = this.#find(name);
    if (found) return found;
    const person = { name };
    this.#people.push(person);
    return person;
  }
}

/** The store's keys and users of one run, in the terms of the model. */
class Run {
  readonly #probe: Probe;
  readonly #prefix: string;

  constructor(probe: Probe, run: number) {
    this.#probe = probe;
    this.#prefix = `run ${run} `;
  }

  #user(name: string): { readonly user: string } {
    return { user: this.#prefix + name };
  }

  #write(operation: Exclude<Operation, { readonly do: "forget" }>): Write {
    switch (operation.do) {
      case "put": {
        const spaces = operation.names.map((name): KeySpace => (name === ALL ? ALL : this.#user(name)));
        return putting(this.#prefix + operation.key, spaces);
      }
      case "revoke":
        return { op: "revoke_key", id: this.#prefix + operation.key };
      case "rename": {
        const entry = { kind: "user", name: this.#user(operation.name).user } as const;
        return { op: "amend", entry, name: this.#user(operation.to).user };
      }
      case "add":
        return this.#probe.adding(this.#user(operation.name), ["lamp"]);
    }
  }

  async apply(operation: Operation): Promise<boolean> {
    if (operation.do === "forget") {
      await this.#probe.forget({ space: this.#user(operation.name), entry: operation.entry });
      return true;
    }
    const [outcome] = (await this.#probe.commit([this.#write(operation)])).outcomes;
    return outcome?.ok === true;
  }

  async key(id: string) {
    const [found] = (await this.#probe.store.keys({ id: this.#prefix + id, limit: 2 })).items;
    if (!found) return undefined;
    const names = found.spaces.map((space) =>
      typeof space === "string" ? space : "user" in space ? space.user.slice(this.#prefix.length) : "",
    );
    return { names, hasLost: found.forgotten !== undefined, isRevoked: found.revokedAt !== undefined };
  }

  async naming(name: string): Promise<readonly string[]> {
    const { items } = await this.#probe.store.keys({ space: this.#user(name), limit: 10 });
    return items.map(({ id }) => id.slice(this.#prefix.length));
  }
}

export function keyModel(check: Check): void {
  check("names the same users after any renames and forgets", async (probe) => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 14 }), async (operations) => {
        const plain = new PlainKeys();
        const run = new Run(probe, ++runs);
        for (const step of operations) expect(await run.apply(step)).toBe(plain.apply(step));
        for (const id of KEYS) expect(await run.key(id)).toEqual(plain.key(id));
        for (const name of NAMES) expect(await run.naming(name)).toEqual(plain.naming(name));
      }),
      { numRuns: RUNS },
    );
  });
}

/** The messages between the parent and a worker on the buffer's file. */

/** What a worker does, one call at a time. Entries are named by the number in their payload, ids are `id-<number>`. */
export type Call =
  | { readonly kind: "push"; readonly number: number }
  | { readonly kind: "inject"; readonly number: number }
  | { readonly kind: "lease" }
  | { readonly kind: "acknowledge"; readonly numbers: readonly number[] }
  | { readonly kind: "release"; readonly numbers: readonly number[] };

/** The contents of the file. */
export interface Found {
  readonly entries: readonly FoundEntry[];
  /** Of the requested ids. */
  readonly injected: readonly number[];
}

export interface FoundEntry {
  readonly rowid: number;
  readonly number: number;
  readonly attempts: number;
  /** Whether the whole payload is what was pushed. */
  readonly isWhole: boolean;
}

export type Order =
  | { readonly do: "look"; readonly ids: readonly number[] }
  /** Random calls, numbered from `from`, until the process is killed, or up to a number. */
  | {
      readonly do: "work";
      readonly from: number;
      readonly seed: number;
      readonly leaseMs: number;
      readonly calls?: number;
    }
  /** Leases and acknowledges until nothing is left. */
  | { readonly do: "drain" }
  | { readonly do: "close" };

export type Report =
  | { readonly say: "open" }
  | { readonly say: "found"; readonly found: Found }
  | { readonly say: "begin"; readonly call: Call }
  /** The call has returned: the numbers that it leased, acknowledged or released. */
  | { readonly say: "done"; readonly numbers: readonly number[] }
  | { readonly say: "idle" };

/** The payload of a number: up to about ten pages of the file. */
export function payloadOf(number: number): { readonly number: number; readonly text: string } {
  const length = (Math.imul(number, 0x9e3779b1) >>> 0) % (number % 7 === 0 ? 40_000 : 400);
  return { number, text: `${number} ünd `.repeat(Math.ceil(length / 8)) };
}

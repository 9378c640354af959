/** What a component reads from the server: loading, failed, or ready. While it is read again, the old value stays. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { epoch } from "./connection.js";

export type Loaded<T> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown; readonly retry: () => void }
  | {
      readonly state: "ready";
      readonly value: T;
      readonly isLoading: boolean;
      /** The value answers earlier inputs. */
      readonly isStale: boolean;
      readonly reload: () => void;
    };

type Inputs = readonly unknown[];
type Outcome<T> = ({ readonly value: T } | { readonly error: unknown }) & { readonly inputs: Inputs };

/**
 * Reads when `inputs` change, which say what is asked, and asks the same again when `again` changes or the server comes
 * back. A late answer to earlier inputs is dropped.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs, again: Inputs = []): Loaded<T> {
  const [outcome, setOutcome] = useState<Outcome<T> | undefined>(undefined);
  const [isLoading, setLoading] = useState(true);
  const [tries, setTries] = useState(0);
  const retry = useCallback(() => setTries((before) => before + 1), []);
  useEffect(() => {
    const end = new AbortController();
    setLoading(true);
    load(end.signal)
      .then(
        (value) => ({ value, inputs }),
        (error: unknown) => ({ error, inputs }),
      )
      .then((result) => {
        if (end.signal.aborted) return;
        // A failed reload leaves what is shown, unless that answers something else.
        setOutcome((before) =>
          "error" in result && before && "value" in before && areSame(before.inputs, inputs) ? before : result,
        );
        setLoading(false);
      });
    return () => end.abort();
  }, [...inputs, ...again, tries, epoch.value]);
  if (outcome === undefined) return { state: "loading" };
  if ("error" in outcome) return isLoading ? { state: "loading" } : { state: "failed", error: outcome.error, retry };
  return {
    state: "ready",
    value: outcome.value,
    isLoading,
    isStale: !areSame(outcome.inputs, inputs),
    reload: retry,
  };
}

const areSame = (some: Inputs, others: Inputs): boolean => some.every((one, at) => Object.is(one, others[at]));

/** What a component reads from the server: loading, failed, or ready. While it is read again, the old value stays. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { epoch } from "./connection.js";

export type Loaded<T> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown; readonly retry: () => void }
  | { readonly state: "ready"; readonly value: T; readonly isStale: boolean; readonly reload: () => void };

type Outcome<T> = { readonly value: T } | { readonly error: unknown } | undefined;

/** Reads when `inputs` change, and when the server comes back. A late answer to earlier inputs is dropped. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [outcome, setOutcome] = useState<Outcome<T>>(undefined);
  const [isLoading, setLoading] = useState(true);
  const [tries, setTries] = useState(0);
  const retry = useCallback(() => setTries((before) => before + 1), []);
  useEffect(() => {
    const end = new AbortController();
    setLoading(true);
    load(end.signal)
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      .then((result) => {
        if (end.signal.aborted) return;
        // A failed reload leaves what is shown; the shell says that the server is away.
        setOutcome((before) => ("error" in result && before && "value" in before ? before : result));
        setLoading(false);
      });
    return () => end.abort();
  }, [...inputs, tries, epoch.value]);
  if (outcome === undefined) return { state: "loading" };
  if ("error" in outcome) return isLoading ? { state: "loading" } : { state: "failed", error: outcome.error, retry };
  return { state: "ready", value: outcome.value, isStale: isLoading, reload: retry };
}

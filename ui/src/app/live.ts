/**
 * The event stream of the tab. One stream feeds all pages; it is read by fetch, with the key in a header. Pages subscribe
 * to single events, or reload when something they show has changed.
 */
import { effect, signal } from "@preact/signals";
import type { RemoteEvent } from "holdfast/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { access, epoch, memory } from "./connection.js";

export type LiveEvent = RemoteEvent;
type Listener = (event: LiveEvent) => void;

const RECENT_MAX = 200;
const RETRY_MS = 1_000;
/** Events come in bursts; a page reloads once for all of them. */
const SETTLE_MS = 150;

const listeners = new Set<Listener>();
/** The newest events of this tab, newest first. */
export const recent = signal<readonly LiveEvent[]>([]);

export function startLive(): void {
  let end = new AbortController();
  effect(() => {
    end.abort();
    if (access.value.state !== "open") return;
    end = new AbortController();
    void follow(memory.value, end.signal);
  });
}

async function follow(from: typeof memory.value, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of from.events({ signal })) tell(event);
    } catch {
      // The connection itself reports that the server is unreachable.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function tell(event: LiveEvent): void {
  recent.value = [event, ...recent.value].slice(0, RECENT_MAX);
  // Events in between are lost: everything may have changed.
  if (event.type === "reconnected" || event.type === "missed") epoch.value++;
  for (const listener of listeners) listener(event);
}

/** Calls the listener for each event while the component is shown. */
export function useEvents(listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const call: Listener = (event) => latest.current(event);
    listeners.add(call);
    return () => void listeners.delete(call);
  }, []);
}

/** A number that grows after events that concern the component, once for a burst. */
export function useChanges(concerns: (event: LiveEvent) => boolean, settleMs = SETTLE_MS): number {
  const [count, setCount] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEvents((event) => {
    if (!concerns(event)) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setCount((before) => before + 1);
    }, settleMs);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return count;
}

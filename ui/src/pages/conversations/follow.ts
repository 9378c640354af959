/** Keeps a feed up to date: tells it what the event stream says about its space and session. */
import type { SpaceRef } from "holdfast/client";
import { useEffect, useRef } from "preact/hooks";
import { type LiveEvent, useEvents } from "../../app/live.js";
import type { Feed } from "./feed.js";

/** Events come in bursts; the feed reads once for all of them. */
const SETTLE_MS = 150;

export function useFeedEvents(feed: Feed, space: SpaceRef, session: string | undefined, isAtEnd: () => boolean): void {
  const waiting = useRef(new Waiting());
  const tell = (): void => {
    const { added, touched, all } = waiting.current;
    waiting.current = new Waiting();
    if (all || touched.size > 0) void feed.refresh(({ id }) => all || touched.has(id));
    if (added > 0) feed.arrived(added, isAtEnd());
  };
  const latest = useRef(tell);
  latest.current = tell;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEvents((event) => {
    if (!("space" in event) || JSON.stringify(event.space) !== JSON.stringify(space)) return;
    if (session !== undefined && "session" in event && event.session !== undefined && event.session !== session) return;
    if (event.type === "deleted") feed.removed(event.ids);
    else if (!waiting.current.note(event)) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, SETTLE_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

/** What changed since the feed was told. */
class Waiting {
  added = 0;
  all = false;
  readonly touched = new Set<string>();

  /** False if the event changes nothing that a feed shows. */
  note(event: LiveEvent): boolean {
    switch (event.type) {
      case "added":
      case "promoted":
        this.added += event.ids.length;
        return true;
      case "edited":
      case "parked":
        this.touched.add(event.id);
        return true;
      case "transferred":
      case "flushed":
        for (const id of event.ids) this.touched.add(id);
        return true;
      case "replayed":
      case "forgotten":
      case "fact":
        this.all = true;
        return true;
      default:
        return false;
    }
  }
}

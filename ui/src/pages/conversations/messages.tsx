/** The third level: the messages of a session. Only those in view are rendered, and only some around them are in memory. */
import { useSignalEffect } from "@preact/signals";
import type { Item, SpaceRef } from "holdfast/client";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { epoch, mayWrite, memory } from "../../app/connection.js";
import { Button } from "../../parts/button.js";
import { ForgetDialog } from "../../parts/forget-dialog.js";
import { plural } from "../../parts/format.js";
import { Empty, Failure, Loading } from "../../parts/states.js";
import { StoredName, StoredSpace, StoredText } from "../../parts/stored-text.js";
import { EditDialog } from "./edit-dialog.js";
import { type Aim, Feed } from "./feed.js";
import { useFeedEvents } from "./follow.js";
import { MessageRow } from "./message-row.js";
import { useVirtual } from "./virtual.js";

interface MessagesProps {
  readonly space: SpaceRef;
  /** Undefined: all items of the space. */
  readonly session: string | undefined;
  /** The id of the item to show. */
  readonly item: string | undefined;
  readonly onForget: () => void;
}

/** The next page is read when so few rows are left beyond the view. */
const AHEAD = 25;
const ROW_PX = 92;
const OVERSCAN = 8;

/** Rows are measured when they are shown, which moves those after them; by then, the list has found its place. */
const SETTLING_FRAMES = 8;

export function Messages({ space, session, item, onForget }: MessagesProps) {
  const handle = useMemo(
    () => memory.value.session({ ...space, ...(session !== undefined && { session }) }),
    [memory.value],
  );
  const feed = useMemo(() => new Feed(handle), [handle]);
  const [edited, setEdited] = useState<Item>();
  const [deleted, setDeleted] = useState<Item>();
  /** Places that were asked for, opened, and come to rest. Only around the last one asked for is more read, once it rests. */
  const asked = useRef(0);
  const [opened, setOpened] = useState(0);
  const [rested, setRested] = useState(0);
  const aim = useRef<Aim>("end");
  useEffect(() => () => feed.end(), [feed]);
  const show = (next: Aim): void => {
    aim.current = next;
    const place = ++asked.current;
    void feed.open(next).then(() => setOpened(place));
  };
  useEffect(() => show(item === undefined ? "end" : { item }), [feed, item]);

  const { items, hasOlder, hasNewer, unseen, isMissing } = feed.window.value;
  const status = feed.state.value;
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtual({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => items[index]?.id ?? index,
    overscan: OVERSCAN,
  });
  useLayoutEffect(() => {
    if (opened === 0) return;
    const wanted = typeof aim.current === "object" ? aim.current.item : undefined;
    const at = items.findIndex(({ id }) => id === wanted);
    if (at >= 0) virtual.scrollToIndex(at, { align: "center" });
    else if (aim.current === "start") virtual.scrollToOffset(0);
    else virtual.scrollToEnd();
    return afterFrames(SETTLING_FRAMES, () => {
      virtual.cancelScroll(); // its target is an index, and indexes are about to change
      setRested(opened);
    });
  }, [opened]);

  const rows = virtual.getVirtualItems();
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
  const isAtEnd = (): boolean => !feed.window.value.hasNewer && virtual.isAtEnd(ROW_PX);
  useEffect(() => {
    if (rested !== asked.current || status.state !== "ready") return;
    if (hasOlder && first < AHEAD) feed.older();
    if (hasNewer && last > items.length - AHEAD) feed.newer();
    if (unseen > 0 && isAtEnd()) feed.seen();
  });
  useFeedEvents(feed, space, session, isAtEnd);
  useSignalEffect(() => {
    if (epoch.value > 0 && feed.state.peek().state !== "loading")
      void feed.refresh().then(() => feed.arrived(0, isAtEnd()));
  });

  const toEnd = (): void => show("end");
  return (
    <section class="card talk-messages" aria-labelledby="talk-head">
      <header>
        <h2 id="talk-head">{session === undefined ? <StoredSpace space={space} /> : <StoredName text={session} />}</h2>
        <div class="row">
          <Button small onClick={() => show("start")}>
            First
          </Button>
          <Button small onClick={toEnd}>
            Newest
          </Button>
          {mayWrite.value && session !== undefined && (
            <Button small kind="danger" onClick={onForget}>
              Forget…
            </Button>
          )}
        </div>
      </header>
      {isMissing && (
        <p class="notice warn" role="status">
          <span>
            <strong>That message is not here.</strong> It was deleted, or it belongs to another conversation.
          </span>
        </p>
      )}
      {status.state === "failed" && <Failure error={status.error} retry={toEnd} />}
      {status.state === "loading" && <Loading label="the messages" />}
      {status.state === "ready" && items.length === 0 && (
        <Empty title="Nothing is stored here">
          <p>What agents add to this session appears here at once.</p>
        </Empty>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reached by the keyboard */}
      <section ref={scroller} class="talk-scroll" tabIndex={0} aria-label="Messages">
        <ol class="talk-rows" style={{ height: `${virtual.getTotalSize()}px` }}>
          {rows.map(({ key, index, start }) => {
            const one = items[index];
            return (
              one && (
                <li
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  data-item={one.id}
                  class="talk-row"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <MessageRow
                    item={one}
                    space={space}
                    isMarked={one.id === item}
                    hasSession={session === undefined}
                    onEdit={() => setEdited(one)}
                    onDelete={() => setDeleted(one)}
                    onRetry={() => handle.replay([one.id]).then(() => feed.refresh(({ id }) => id === one.id))}
                  />
                </li>
              )
            );
          })}
        </ol>
      </section>
      <div class="talk-unseen" role="status">
        {unseen > 0 && (
          <Button kind="primary" small onClick={toEnd}>
            {plural(unseen, "new message")} below
          </Button>
        )}
      </div>
      {edited && (
        <EditDialog
          item={edited}
          session={handle}
          onClose={() => setEdited(undefined)}
          onSaved={(id) => void feed.refresh((one) => one.id === id)}
        />
      )}
      {deleted && (
        <ForgetDialog
          title="Delete this message"
          verb="Delete the message"
          forget={() => handle.delete([deleted.id])}
          onDone={() => feed.removed([deleted.id])}
          onClose={() => setDeleted(undefined)}
        >
          <blockquote class="quote">
            <StoredText text={deleted.content} max={400} />
          </blockquote>
          <p>Its text, words and vectors are removed, with what rests only on it. This cannot be undone.</p>
        </ForgetDialog>
      )}
    </section>
  );
}

/** Returns what cancels it. */
function afterFrames(count: number, call: () => void): () => void {
  let frame = requestAnimationFrame(function next() {
    count--;
    if (count > 0) frame = requestAnimationFrame(next);
    else call();
  });
  return () => cancelAnimationFrame(frame);
}

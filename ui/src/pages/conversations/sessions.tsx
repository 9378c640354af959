/** The second level: the sessions of a space, newest first, and all its items. */
import type { SpaceRef } from "holdfast/client";
import { useRef, useState } from "preact/hooks";
import { mayWrite, memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { hrefTo } from "../../app/place.js";
import { age, moment } from "../../parts/format.js";
import { PAGE, PageButtons } from "../../parts/page-buttons.js";
import { Shown } from "../../parts/states.js";
import { StoredName } from "../../parts/stored-text.js";
import { ForgetButton } from "./spaces.js";

interface SessionsProps {
  readonly space: SpaceRef;
  readonly selected: string | undefined;
  readonly isWhole: boolean;
  readonly onForget: (name: string) => void;
}

export function Sessions({ space, selected, isWhole, onForget }: SessionsProps) {
  const [cursor, setCursor] = useState<string>();
  const key = JSON.stringify(space);
  const known = useRef<ReadonlySet<string>>(new Set());
  const changes = useChanges(
    (event) =>
      "space" in event &&
      JSON.stringify(event.space) === key &&
      (["forgotten", "renamed"].includes(event.type) ||
        (event.type === "added" && event.session !== undefined && !known.current.has(event.session))),
  );
  const loaded = useLoaded(
    () => memory.value.sessions.list({ space, order: "desc", limit: PAGE, ...(cursor !== undefined && { cursor }) }),
    [key, memory.value, cursor],
    [changes],
  );
  if (loaded.state === "ready") known.current = new Set(loaded.value.items.map(({ name }) => name));
  return (
    <section class="card talk-sessions" aria-label="Sessions">
      <h2>Sessions</h2>
      <ul class="picks">
        <li>
          <a href={hrefTo("/conversations", { ...space, all: "1" })} aria-current={isWhole ? "true" : undefined}>
            All items of the space
          </a>
        </li>
      </ul>
      <Shown of={loaded} label="the sessions">
        {(page) => (
          <>
            {page.items.length === 0 && <p class="muted">No sessions yet.</p>}
            <ul class="picks">
              {page.items.map(({ id, name, createdAt }) => (
                <li key={id}>
                  <a
                    href={hrefTo("/conversations", { ...space, session: name })}
                    aria-current={name === selected ? "true" : undefined}
                  >
                    <StoredName text={name} />
                    <time class="small muted" dateTime={new Date(createdAt).toISOString()} title={moment(createdAt)}>
                      {age(createdAt)}
                    </time>
                  </a>
                  {mayWrite.value && <ForgetButton what="session" name={name} onClick={() => onForget(name)} />}
                </li>
              ))}
            </ul>
            <PageButtons page={page} cursor={cursor} onGo={setCursor} />
          </>
        )}
      </Shown>
    </section>
  );
}

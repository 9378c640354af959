/** A message: who said it and when, its text, whether it is embedded, and what can be done with it. */
import type { Item, SpaceRef } from "holdfast/client";
import { useState } from "preact/hooks";
import { mayWrite } from "../../app/connection.js";
import { hrefTo } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { age, moment, plural } from "../../parts/format.js";
import { StoredName, StoredText, visible } from "../../parts/stored-text.js";

interface MessageRowProps {
  readonly item: Item;
  readonly space: SpaceRef;
  readonly isMarked: boolean;
  /** Whether to name the session. */
  readonly hasSession: boolean;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
  readonly onRetry: () => Promise<void>;
}

export function MessageRow({ item, space, isMarked, hasSession, onEdit, onDelete, onRetry }: MessageRowProps) {
  const { id, kind, role, name, agent, session, content, occurredAt, version, updatedAt } = item;
  return (
    <article class={`talk-message said-by-${role ?? kind} ${isMarked ? "marked" : ""}`} aria-current={isMarked}>
      <header class="row small">
        <span class="badge accent">{role ?? kind}</span>
        {role !== undefined && kind !== "message" && <span class="badge">{kind}</span>}
        {name !== undefined && <StoredName text={name} max={60} />}
        {agent !== undefined && (
          <span class="muted talk-agent">
            with <StoredName text={agent} max={60} />
          </span>
        )}
        {hasSession && session !== undefined && (
          <a href={hrefTo("/conversations", { ...space, session, item: id })}>
            <StoredName text={session} max={60} />
          </a>
        )}
        <a
          class="muted"
          href={hrefTo("/conversations", { ...space, ...(hasSession ? { all: "1" } : { session }), item: id })}
          title={`${moment(occurredAt)}: link to this message`}
        >
          <time dateTime={new Date(occurredAt).toISOString()}>{age(occurredAt)} ago</time>
        </a>
        {version > 1 && (
          <span class="muted" title={moment(updatedAt)}>
            edited, version {version}
          </span>
        )}
        <span class="talk-tools">
          <State item={item} />
          {mayWrite.value && kind !== "fact" && (
            <Button kind="quiet" small onClick={onEdit}>
              Edit
            </Button>
          )}
          {mayWrite.value && (
            <Button kind="quiet" small onClick={onDelete}>
              Delete
            </Button>
          )}
        </span>
      </header>
      <p class="talk-text">
        <StoredText text={content} />
      </p>
      {item.embedding?.state === "parked" && <Parked embedding={item.embedding} onRetry={onRetry} />}
    </article>
  );
}

function State({ item: { embedding } }: { readonly item: Item }) {
  const state = embedding?.state ?? "stored";
  if (state === "parked") return <span class="badge bad">parked</span>;
  if (state === "waiting") {
    return (
      <span class="badge warn" title="Words find it. Meaning does when it is embedded.">
        waiting
      </span>
    );
  }
  if (state === "off") {
    return (
      <span class="muted" title="Words find it. This server has no embedding model.">
        by words
      </span>
    );
  }
  const where = state === "embedded" ? "Its vectors are in memory and not yet written." : "Its vectors are written.";
  return (
    <span class="muted" title={`Words and meaning find it. ${where}`}>
      {state}
    </span>
  );
}

interface ParkedProps {
  readonly embedding: NonNullable<Item["embedding"]>;
  readonly onRetry: () => Promise<void>;
}

function Parked({ embedding: { error = "", attempts = 1, retryAt }, onRetry }: ParkedProps) {
  const [isBusy, setBusy] = useState(false);
  return (
    <div class="notice talk-parked">
      <div class="grow">
        <strong>It could not be embedded.</strong> Words find it all the same.
        <p class="small">
          {visible(error)} <span class="muted">({plural(attempts, "attempt")}</span>
          {retryAt !== undefined && <span class="muted">, next {moment(retryAt)}</span>}
          <span class="muted">)</span>
        </p>
      </div>
      {mayWrite.value && (
        <Button
          small
          disabled={isBusy}
          onClick={() => {
            setBusy(true);
            void onRetry().finally(() => setBusy(false));
          }}
        >
          Try again
        </Button>
      )}
    </div>
  );
}

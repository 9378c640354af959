/** A fact: what it says, when it held, what superseded it, and where it comes from. */
import type { Fact, Session } from "holdfast/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { mayWrite } from "../../app/connection.js";
import { hrefTo } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { moment } from "../../parts/format.js";
import { Failure } from "../../parts/states.js";
import { StoredName, StoredText } from "../../parts/stored-text.js";

interface FactCardProps {
  readonly fact: Fact;
  readonly session: Session;
  /** Other facts by id, for what superseded this one. */
  readonly others: ReadonlyMap<string, Fact>;
  /** Where the time line begins. */
  readonly since: number;
  readonly isMarked: boolean;
  readonly onChanged: () => void;
  readonly onForget: () => void;
}

const TONES: { readonly [state in Fact["state"]]: string } = { holds: "good", ended: "", retracted: "bad" };

export function FactCard({ fact, session, others, since, isMarked, onChanged, onForget }: FactCardProps) {
  const { id, category, content, confidence, pinned, state, spans } = fact;
  const [error, setError] = useState<unknown>();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isMarked) card.current?.scrollIntoView({ block: "center" });
  }, [isMarked]);
  const act = (work: () => Promise<unknown>) => (): void => {
    setError(undefined);
    work().then(onChanged, setError);
  };
  return (
    <article ref={card} class={`card fact ${isMarked ? "marked" : ""} ${state}`} aria-current={isMarked}>
      <header class="row">
        <span class="badge accent">
          <StoredName text={category} max={60} />
        </span>
        <span class={`badge ${TONES[state]}`}>{state}</span>
        {pinned && <span class="badge">pinned</span>}
        <span class="muted small number">confidence {confidence}</span>
        {mayWrite.value && (
          <span class="row fact-tools">
            {state === "holds" && (
              <Button kind="quiet" small onClick={act(() => session.facts.end(id))}>
                End
              </Button>
            )}
            {state !== "retracted" && (
              <Button kind="quiet" small onClick={act(() => session.facts.retract(id))}>
                Retract
              </Button>
            )}
            <Button kind="quiet" small onClick={onForget}>
              Forget…
            </Button>
          </span>
        )}
      </header>
      <p class="fact-text">
        <StoredText text={content} />
      </p>
      <Spans spans={spans} since={since} isRetracted={state === "retracted"} />
      <ul class="small fact-notes">
        {spans
          .flatMap(({ supersededBy }) => supersededBy ?? [])
          .map((other) => (
            <li key={other}>
              superseded by{" "}
              <a href={hrefTo("/blocks", { ...fact.space, tab: "facts", fact: other })}>
                <StoredText text={others.get(other)?.content ?? other} max={200} />
              </a>
            </li>
          ))}
        <Sources fact={fact} />
      </ul>
      {error !== undefined && <Failure error={error} />}
    </article>
  );
}

interface SpansProps {
  readonly spans: Fact["spans"];
  readonly since: number;
  readonly isRetracted: boolean;
}

/** When it held: a bar for the eye, and words. */
function Spans({ spans, since, isRetracted }: SpansProps) {
  const now = Date.now();
  const at = (time: number): number => (100 * (Math.min(time, now) - since)) / (now - since);
  return (
    <div class="fact-time">
      <div class="fact-line" aria-hidden="true">
        {spans.map(({ from, to }) => (
          <span
            key={from}
            class={to === undefined ? "open" : ""}
            style={{ insetInlineStart: `${at(from)}%`, width: `${at(to ?? now) - at(from)}%` }}
          />
        ))}
      </div>
      <p class="small muted">
        {isRetracted && "never true; it was held for true "}
        {spans.map(({ from, to }) => `${moment(from)} – ${to === undefined ? "now" : moment(to)}`).join(", ")}
      </p>
    </div>
  );
}

function Sources({ fact: { space, sources } }: { readonly fact: Fact }) {
  return (
    <>
      {sources.map(({ session, message }) => (
        <li key={`${session} ${message}`}>
          from{" "}
          {session === undefined && message === undefined ? (
            "the host itself"
          ) : (
            <a href={hrefTo("/conversations", { ...space, session, item: message })}>
              {message === undefined ? "the session" : "a message"}
              {session !== undefined && (
                <>
                  {message === undefined ? " " : " of "}
                  <StoredName text={session} />
                </>
              )}
            </a>
          )}
        </li>
      ))}
    </>
  );
}

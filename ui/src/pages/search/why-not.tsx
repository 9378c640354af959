/** Why an item is not among the hits: a field that picks one, and the reason, with its score beside that of the last hit. */
import type { Item } from "holdfast/client";
import { useEffect, useState } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { scopeIn, usePlace } from "../../app/place.js";
import { Field } from "../../parts/field.js";
import { plainText, StoredName, StoredText } from "../../parts/stored-text.js";
import { type Asked, isPlain, type Missing } from "./answer.js";
import { Breakdown } from "./breakdown.js";

const OFFERED_MAX = 100;
const LABEL_UNITS = 90;
const LIST = "newest-items";

/** An id, typed or pasted, or one of the newest items of the scope, found by its text. */
export function WhyNotField() {
  const { params, change } = usePlace();
  const given = params["why"] ?? "";
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  const scope = scopeIn(params);
  const known = useLoaded(
    async () => (scope ? (await memory.value.session(scope).list({ limit: OFFERED_MAX })).items : []),
    [memory.value, JSON.stringify(scope)],
  );
  const items: readonly Item[] = known.state === "ready" ? known.value : [];
  const set = (next: string): void => {
    setText(next);
    // One of the offered items was chosen: no need to confirm it.
    if (items.some(({ id }) => id === next)) change({ why: next });
  };
  return (
    <Field label="Why not this item?">
      <input
        class="input"
        name="why"
        list={LIST}
        disabled={isPlain(params)}
        value={text}
        autocomplete="off"
        spellcheck={false}
        placeholder="An id, or part of a text"
        onInput={(event) => set(event.currentTarget.value)}
        onChange={(event) => change({ why: event.currentTarget.value.trim() })}
      />
      <datalist id={LIST}>
        {items.map(({ id, content }) => (
          <option key={id} value={id}>
            {plainText(content, LABEL_UNITS)}
          </option>
        ))}
      </datalist>
    </Field>
  );
}

/** The reason that one search gives. */
export function WhyNot({ id, asked: { hits, item } }: { readonly id: string; readonly asked: Asked }) {
  const missing = hits.explanation?.missing.find((one) => one.id === id);
  const shownAt = hits.findIndex((hit) => hit.id === id);
  const last = hits.at(-1);
  const ranked = missing?.ranked;
  return (
    <section class="card why-not" aria-label="Why not this item?">
      <p class="row small">
        <span class="badge warn">why not?</span>
        <code>
          <StoredName text={id} />
        </code>
      </p>
      {item && (
        <p class="hit-text">
          <StoredText text={item.content} max={400} />
        </p>
      )}
      <p>{shownAt >= 0 ? `It is among the hits, at place ${shownAt + 1}.` : missing && reason(missing, hits.length)}</p>
      {ranked && last?.why && (
        <dl class="why-not-scores">
          <dt>
            This item, place {ranked.place} <span class="number score">{ranked.score.toFixed(3)}</span>
          </dt>
          <dd>
            <Breakdown why={ranked.why} scale={last.score} />
          </dd>
          <dt>
            The last hit, place {hits.length} <span class="number score">{last.score.toFixed(3)}</span>
          </dt>
          <dd>
            <Breakdown why={last.why} scale={last.score} />
          </dd>
        </dl>
      )}
    </section>
  );
}

function reason({ why, ranked }: Missing, shown: number): string {
  if (ranked && ranked.place > shown)
    return `It was ranked at place ${ranked.place}. The answer shows the best ${shown}.`;
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
}

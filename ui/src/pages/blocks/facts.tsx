/** The facts of a space: what holds, what held and until when, and what was never true. */
import type { Fact, Session, SpaceRef } from "holdfast/client";
import { useState } from "preact/hooks";
import { mayWrite, memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { Segments } from "../../parts/field.js";
import { ForgetDialog } from "../../parts/forget-dialog.js";
import { PAGE, PageButtons } from "../../parts/page-buttons.js";
import { Empty, Shown } from "../../parts/states.js";
import { StoredText } from "../../parts/stored-text.js";
import { FactCard } from "./fact-card.js";
import { FactDialog } from "./fact-dialog.js";

const STATES = [
  ["", "All"],
  ["holds", "Holding"],
  ["ended", "Ended"],
  ["retracted", "Retracted"],
] as const;
const EVERY = ["holds", "ended", "retracted"] as const;

export function Facts({ space }: { readonly space: SpaceRef }) {
  const { params, change } = usePlace();
  const [place, setPlace] = useState<Place>();
  const [isAdding, setAdding] = useState(false);
  const [doomed, setDoomed] = useState<Fact>();
  const key = JSON.stringify(space);
  const state = STATES.find(([one]) => one === params["state"])?.[0] ?? "";
  const list = JSON.stringify([key, state, params["fact"]]);
  const cursor = place?.of === list ? place.cursor : undefined;
  const wanted = cursor === undefined ? params["fact"] : undefined;
  const changes = useChanges(
    (event) =>
      "space" in event &&
      JSON.stringify(event.space) === key &&
      ["fact", "deleted", "forgotten", "edited", "added"].includes(event.type),
  );
  const session = memory.value.session(space);
  const loaded = useLoaded(
    () => read(session, state, cursor, wanted),
    [key, state, wanted, cursor, memory.value],
    [changes],
  );
  const reload = (): void => {
    if (loaded.state === "ready") loaded.reload();
  };
  return (
    <div class="stack">
      <div class="row">
        <Segments
          label="State"
          choices={STATES}
          value={state}
          onChoose={(one) => change({ state: one, fact: undefined })}
        />
        {mayWrite.value && (
          <Button small onClick={() => setAdding(true)}>
            New fact
          </Button>
        )}
      </div>
      <Shown of={loaded} label="the facts">
        {({ facts, others, page }) => (
          <div class="stack">
            {facts.length === 0 && (
              <Empty title="No facts here">
                <p>A fact is one sentence with its sources and the time in which it holds.</p>
              </Empty>
            )}
            <ol class="stack">
              {facts.map((fact) => (
                <li key={fact.id}>
                  <FactCard
                    fact={fact}
                    session={session}
                    others={others}
                    since={sinceOf(facts)}
                    isMarked={fact.id === wanted}
                    onChanged={reload}
                    onForget={() => setDoomed(fact)}
                  />
                </li>
              ))}
            </ol>
            <PageButtons page={page} cursor={cursor} onGo={(next) => setPlace({ of: list, cursor: next })} />
            {isAdding && (
              <FactDialog
                session={session}
                known={facts.filter((one) => one.state === "holds")}
                onClose={() => setAdding(false)}
                onSaved={reload}
              />
            )}
          </div>
        )}
      </Shown>
      {doomed && (
        <ForgetDialog
          title="Forget this fact"
          verb="Forget the fact"
          forget={() => session.delete([doomed.id])}
          onClose={() => {
            setDoomed(undefined);
            reload();
          }}
        >
          <blockquote class="quote">
            <StoredText text={doomed.content} max={400} />
          </blockquote>
          <p>
            It is removed with its history, as if it had never been offered. To keep that it is wrong, retract it
            instead.
          </p>
        </ForgetDialog>
      )}
    </div>
  );
}

type State = (typeof STATES)[number][0];

/** A page of the list that the URL describes. */
interface Place {
  readonly of: string;
  readonly cursor: string | undefined;
}

/** A page of facts, the wanted one first if it is not among them, and those that supersede them, by id. */
async function read(session: Session, state: State, cursor: string | undefined, wanted: string | undefined) {
  const states = state === "" ? [...EVERY] : [state];
  const page = await session.facts.list({ state: states, limit: PAGE, ...(cursor !== undefined && { cursor }) });
  const { items } = page;
  const known = new Map(items.map((fact) => [fact.id, fact]));
  const named = items.flatMap(({ spans }) => spans.flatMap(({ supersededBy }) => supersededBy ?? []));
  const missing = [...named, ...(wanted === undefined ? [] : [wanted])].filter((id) => !known.has(id));
  const more = missing.length === 0 ? [] : await session.facts.get([...new Set(missing)]);
  const first = more.filter(({ id }) => id === wanted);
  const facts: readonly Fact[] = [...first, ...items];
  return { facts, others: new Map([...facts, ...more].map((fact) => [fact.id, fact])), page };
}

/** The beginning of the time line. */
const sinceOf = (facts: readonly Fact[]): number =>
  Math.min(Date.now() - 1, ...facts.flatMap(({ spans }) => spans.map(({ from }) => from)));

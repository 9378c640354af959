/** Search: ask as any user, agent or team; see what was found, where, and why; compare two sets of options side by side. */

import { useEffect, useRef, useState } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { type Params, scopeIn, usePlace } from "../../app/place.js";
import { isQuestionWanted } from "../../app/question.js";
import { Button } from "../../parts/button.js";
import { Check } from "../../parts/field.js";
import { ScopeFields } from "../../parts/scope-fields.js";
import { Empty, PageHead, Shown } from "../../parts/states.js";
import { ask, type Hits, isPlain } from "./answer.js";
import { HitCard } from "./hit-card.js";
import { OptionFields } from "./option-fields.js";
import "./search.css";
import { Summary } from "./summary.js";
import { WhyNot, WhyNotField } from "./why-not.js";

export default function Search() {
  const { params, change } = usePlace();
  const [text, setText] = useState(params["q"] ?? "");
  useEffect(() => setText(params["q"] ?? ""), [params["q"]]);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isQuestionWanted.value) box.current?.focus();
    isQuestionWanted.value = false;
  }, []);
  const isCompared = params["compare"] === "1";
  return (
    <div class="page">
      <PageHead title="Search" purpose="Ask a question, and see why each answer was found." />
      <search>
        <form
          class="card stack"
          onSubmit={(event) => {
            event.preventDefault();
            change({ q: text.trim(), run: String(Number(params["run"] ?? 0) + 1) }, { push: true });
          }}
        >
          <ScopeFields />
          <div class="ask">
            <input
              ref={box}
              class="input ask-box"
              data-search
              type="search"
              aria-label="Question"
              placeholder="Where does she live?"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <Button kind="primary" type="submit">
              Search
            </Button>
          </div>
          <div class={isCompared ? "sides" : undefined}>
            <OptionFields prefix="" legend={isCompared ? "Left" : "Options"} />
            {isCompared && <OptionFields prefix="b." legend="Right" />}
          </div>
          <div class="ask-more">
            <WhyNotField />
            <div>
              <Check
                label="Compare two sets of options"
                checked={isCompared}
                onChange={(on) => change({ compare: on ? "1" : undefined })}
              />
              <Check
                label="Ask as an application does, without explanations"
                checked={isPlain(params)}
                onChange={(on) => change({ plain: on ? "1" : undefined })}
              />
            </div>
          </div>
        </form>
      </search>
      <Results params={params} isCompared={isCompared} />
    </div>
  );
}

function Results({ params, isCompared }: { readonly params: Params; readonly isCompared: boolean }) {
  const scope = scopeIn(params);
  if (!scope) {
    return (
      <Empty title="Whose memory?">
        <p>Name a user, an agent or a team. A search covers one space and nothing of anyone else.</p>
      </Empty>
    );
  }
  if (!params["q"]) {
    return (
      <Empty title="Ask something">
        <p>A question in plain words, a name, a number: words and meaning are searched together.</p>
      </Empty>
    );
  }
  if (!isCompared) return <Answer params={params} prefix="" />;
  return (
    <div class="sides">
      <Answer params={params} prefix="" />
      <Answer params={params} prefix="b." />
    </div>
  );
}

function Answer({ params, prefix }: { readonly params: Params; readonly prefix: string }) {
  const loaded = useLoaded((signal) => ask(params, prefix, signal), [memory.value, JSON.stringify(params), prefix]);
  const why = params["why"];
  return (
    <section class="stack" aria-label={prefix === "" ? "Results" : "Results of the other options"}>
      <Shown of={loaded} label="the results">
        {(asked) => (
          <div class="stack">
            <Summary asked={asked} />
            {why && !isPlain(params) && <WhyNot id={why} asked={asked} />}
            <HitList hits={asked.hits} />
          </div>
        )}
      </Shown>
    </section>
  );
}

function HitList({ hits }: { readonly hits: Hits }) {
  if (hits.length === 0) {
    return (
      <Empty title="Nothing found">
        <p>Memory holds nothing that matches, and it does not make anything up.</p>
      </Empty>
    );
  }
  return (
    <ol class="stack hits">
      {hits.map((hit, at) => (
        <li key={hit.id}>
          <HitCard hit={hit} rank={at + 1} best={hits[0]?.score ?? 1} />
        </li>
      ))}
    </ol>
  );
}

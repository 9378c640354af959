/** Search: ask as any user, agent or team; see what was found, where, and why. Two sets of options stand side by side. */

import { useEffect, useState } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { type Params, scopeIn, usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { Check } from "../../parts/field.js";
import { ms, plural } from "../../parts/format.js";
import { ScopeFields } from "../../parts/scope-fields.js";
import { Empty, PageHead, Shown } from "../../parts/states.js";
import type { Explanation, Hits } from "./answer.js";
import { ask } from "./answer.js";
import { HitCard } from "./hit-card.js";
import { OptionFields } from "./option-fields.js";
import "./search.css";

export default function Search() {
  const { params, change } = usePlace();
  const [text, setText] = useState(params["q"] ?? "");
  useEffect(() => setText(params["q"] ?? ""), [params["q"]]);
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
          <Check
            label="Compare two sets of options"
            checked={isCompared}
            onChange={(on) => change({ compare: on ? "1" : undefined })}
          />
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
        <p>Name a user, an agent or a team. A search sees one space, and nothing of anyone else.</p>
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
  return (
    <section class="stack" aria-label={prefix === "" ? "Results" : "Results of the other options"}>
      <Shown of={loaded} label="the results">
        {({ hits, tookMs }) => (
          <div class="stack">
            <Summary hits={hits} tookMs={tookMs} />
            {hits.length === 0 ? (
              <Empty title="Nothing found">
                <p>Memory holds nothing that matches, and it does not make anything up.</p>
              </Empty>
            ) : (
              <ol class="stack hits">
                {hits.map((hit, at) => (
                  <li key={hit.id}>
                    <HitCard hit={hit} rank={at + 1} best={hits[0]?.score ?? 1} />
                  </li>
                ))}
              </ol>
            )}
          </div>
        )}
      </Shown>
    </section>
  );
}

function Summary({ hits, tookMs }: { readonly hits: Hits; readonly tookMs: number }) {
  const { explanation } = hits;
  return (
    <div class="summary">
      <p role="status">
        <strong>{plural(hits.length, "hit")}</strong>
        {explanation && <> of {plural(explanation.candidates, "candidate")}</>} in{" "}
        <span class="number">{ms(tookMs)}</span>
        {hits.partial && <span class="badge warn">partial</span>}
        {hits.degraded !== undefined && <span class="badge warn">words only: {hits.degraded}</span>}
      </p>
      {explanation && <HowAsked explanation={explanation} />}
    </div>
  );
}

const SOURCES: { readonly [source in Explanation["sources"][number]["source"]]: string } = {
  query: "Cached answers",
  round: "RoundBuffer",
  hybrid: "HybridBuffer",
  words: "Words",
  meaning: "Meaning",
  index: "External index",
};

function HowAsked({ explanation: { question, sources, missing } }: { readonly explanation: Explanation }) {
  return (
    <details>
      <summary>How it was asked</summary>
      <div class="stack">
        <p>
          Words looked for:{" "}
          {question.terms.length === 0 && <span class="muted">none; all of them are very common</span>}
          {question.terms.map((term) => (
            <code key={term} class="term">
              {term}
            </code>
          ))}
          {question.refersBack && <span class="badge">refers back to the conversation</span>}
        </p>
        <div class="table-wrap">
          <table>
            <thead>
              <tr>
                <th scope="col">Source</th>
                <th scope="col">Found</th>
                <th scope="col">Time</th>
                <th scope="col">Note</th>
              </tr>
            </thead>
            <tbody>
              {sources.map(({ source, asked, found, ms: took, why }) => (
                <tr key={source}>
                  <td>{SOURCES[source]}</td>
                  <td class="number">{asked ? found : "–"}</td>
                  <td class="number">{asked ? ms(took) : "–"}</td>
                  <td class="muted">{why ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {missing.map(({ id, why }) => (
          <p key={id}>
            <code>{id}</code> is not among the hits: {why}
          </p>
        ))}
      </div>
    </details>
  );
}

/** What one search cost, where its answer came from, and how the question was read. */
import { isAdmin } from "../../app/connection.js";
import { ms, plural } from "../../parts/format.js";
import type { Asked, Explanation, Origin } from "./answer.js";

const ORIGINS: { readonly [origin in Origin]: readonly [name: string, note: string] } = {
  answers: ["from the cache", "A finished answer: nothing was searched, and nothing was read."],
  rankings: ["ranking from the cache", "Nothing was searched; the content was read."],
  victims: ["ranking from the victim cache", "Nothing was searched; the content was read."],
  ahead: ["made ahead of time", "The SpeculativeBuffer had answered it before it was asked."],
  shared: ["shared a search", "An equal question was being searched."],
  misses: ["searched", "No cache had the answer."],
};

export function Summary({ asked: { hits, tookMs, origin } }: { readonly asked: Asked }) {
  const { explanation } = hits;
  return (
    <div class="summary">
      <p role="status">
        <strong>{plural(hits.length, "hit")}</strong>
        {explanation && <> of {plural(explanation.candidates, "candidate")}</>} in{" "}
        <span class="number">{ms(tookMs)}</span>
        {origin && <span class={`badge ${origin === "misses" ? "" : "good"}`}>{ORIGINS[origin][0]}</span>}
        {hits.partial && <span class="badge warn">partial</span>}
        {hits.degraded !== undefined && <span class="badge warn">words only: {hits.degraded}</span>}
      </p>
      <p class="muted small">{origin ? ORIGINS[origin][1] : unknownOrigin()}</p>
      {hits.length > 0 && <p class="muted small">{ABOUT_SCORES}</p>}
      {explanation && <HowAsked explanation={explanation} />}
    </div>
  );
}

/** As in docs/recall.md. */
const ABOUT_SCORES =
  "A score ranks the hits of this answer and is not a measure of relevance. Words and meaning make up to 1, relative to the best match; role, date, session and recency add to it, and an identifier of the question up to 3.";

const unknownOrigin = (): string =>
  isAdmin.value
    ? "Others asked at the same moment, so the server's counts do not tell where this answer came from."
    : "Only an admin key can tell whether the answer was cached.";

const SOURCES: { readonly [source in Explanation["sources"][number]["source"]]: string } = {
  query: "Cached answers",
  round: "RoundBuffer",
  hybrid: "HybridBuffer",
  words: "Words",
  meaning: "Meaning",
  index: "External index",
};

function HowAsked({ explanation: { question, sources } }: { readonly explanation: Explanation }) {
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
        <p class="muted">
          An explained answer is assembled again each time; only its ranking is cached. Ask as an application does to
          see what an agent would wait for.
        </p>
      </div>
    </details>
  );
}

/** API: every operation of the HTTP API, to read and to try. */
import { useLoaded } from "../../app/loaded.js";
import { hrefTo, usePlace } from "../../app/place.js";
import { Empty, PageHead, Shown } from "../../parts/states.js";
import "./api.css";
import { type Operation, readApi } from "./openapi.js";
import { Method, OperationView } from "./operation.js";

/** The dialect of another system, folded away. */
const FOLDED = "MemFuse";

export default function Api() {
  const loaded = useLoaded(readApi, []);
  return (
    <div class="page">
      <PageHead title="API" purpose="Every operation of the HTTP API, to read and to try.">
        <a class="button" href="/openapi.json" target="_blank" rel="noreferrer">
          openapi.json
        </a>
      </PageHead>
      <Shown of={loaded} label="the API">
        {({ operations, schemas }) => <Reference operations={operations} schemas={schemas} />}
      </Shown>
    </div>
  );
}

type Props = Parameters<typeof OperationView>[0];

function Reference({ operations, schemas }: Pick<Props, "schemas"> & { readonly operations: readonly Operation[] }) {
  const { params, change } = usePlace();
  const chosen = operations.find(({ id }) => id === params["op"]);
  const wanted = (params["q"] ?? "").trim().toLowerCase();
  const found = operations.filter((one) => wordsOf(one).includes(wanted));
  const groups = [...Map.groupBy(found, ({ tag }) => tag)];
  return (
    <div class="api">
      <nav class="api-index" aria-label="Operations">
        <input
          class="input"
          type="search"
          data-search
          aria-label="Filter operations"
          placeholder="Filter operations"
          value={params["q"] ?? ""}
          onInput={(event) => change({ q: event.currentTarget.value })}
        />
        <select
          class="input api-pick"
          aria-label="Operation"
          value={chosen?.id ?? ""}
          onChange={(event) => change({ op: event.currentTarget.value }, { push: true })}
        >
          <option value="">Choose an operation</option>
          {groups.map(([tag, some]) => (
            <optgroup key={tag} label={tag}>
              {some.map(({ id, method, path }) => (
                <option key={id} value={id}>
                  {method} {short(path)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <div class="api-groups">
          {groups.map(([tag, some]) => (
            <details key={`${tag} ${wanted !== ""}`} open={tag !== FOLDED || wanted !== "" || chosen?.tag === FOLDED}>
              <summary>
                {tag} <span class="number">{some.length}</span>
              </summary>
              <ul>
                {some.map((one) => (
                  <li key={one.id}>
                    <a
                      href={hrefTo("/docs", { op: one.id, q: params["q"] })}
                      aria-current={one === chosen ? "page" : undefined}
                      title={one.summary}
                    >
                      <Method method={one.method} /> <span>{short(one.path)}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </details>
          ))}
          {found.length === 0 && <p class="muted">No operation fits the filter.</p>}
        </div>
      </nav>
      {chosen ? <OperationView operation={chosen} schemas={schemas} /> : <Start />}
    </div>
  );
}

const wordsOf = ({ id, tag, method, path, summary }: Operation): string =>
  `${id} ${tag} ${method} ${path} ${summary}`.toLowerCase();

const short = (path: string): string => path.replace(/^\/api\/v1/, "");

function Start() {
  return (
    <div class="stack">
      <section class="card stack" aria-labelledby="start-head">
        <h2 id="start-head">One request to add, one to ask</h2>
        <pre class="code">{`curl '${location.origin}/api/v1/messages?user=ada&session=first' \\
  -H 'content-type: application/json' \\
  -d '{"messages":[{"role":"user","content":"I moved to Lisbon in May."}]}'

curl '${location.origin}/api/v1/query?user=ada' \\
  -H 'content-type: application/json' \\
  -d '{"query":"where does she live?"}'`}</pre>
        <ul class="rules">
          <li>
            The scope is in the query string: <code>user</code>, <code>agent</code>, <code>team</code>,{" "}
            <code>session</code>. It names whose memory a call reads and writes.
          </li>
          <li>A message is durable and searchable when the response arrives.</li>
          <li>
            Every JSON response is <code>{"{ status, code, data, message, errors }"}</code>. An error says what to do
            next in <code>error.hint</code>.
          </li>
          <li>
            If the server asks for a key, send <code>Authorization: Bearer hf_…</code>.
          </li>
          <li>
            A call with an <code>Idempotency-Key</code> may be repeated: it writes once.
          </li>
        </ul>
      </section>
      <Empty title="Choose an operation">
        <p>
          Each page has the fields, an example, code for curl and TypeScript, and a form that sends the request to this
          server.
        </p>
      </Empty>
    </div>
  );
}

/** One operation: what it does, what it takes and answers, how to call it, and a form to try it. */
import { Code, Source } from "./code.js";
import { FieldLine, Fields } from "./fields.js";
import { type Body, JSON_MEDIA, type Operation, type Schemas } from "./openapi.js";
import { TryIt } from "./try-it.js";

interface OperationViewProps {
  readonly operation: Operation;
  readonly schemas: Schemas;
}

export function OperationView({ operation, schemas }: OperationViewProps) {
  const { method, path, summary, description, parameters, request, response, samples, status } = operation;
  return (
    <article class="stack operation" aria-labelledby="operation-head">
      <header class="stack">
        <h2 id="operation-head" class="route">
          <Method method={method} /> <code>{path}</code>
        </h2>
        <p>{summary}</p>
        <p class="muted">{description}</p>
      </header>
      <div class="api-two">
        <div class="stack">
          {parameters.length > 0 && (
            <section class="card" aria-labelledby="parameters-head">
              <h3 id="parameters-head">Parameters</h3>
              <ul class="fields">
                {parameters.map(({ name, in: place, required, schema, description: about }) => (
                  <FieldLine
                    key={name}
                    name={place === "query" ? `?${name}` : name}
                    field={{ ...schema, ...(about !== undefined && { description: about }) }}
                    isRequired={required}
                    schemas={schemas}
                  />
                ))}
              </ul>
            </section>
          )}
          {request && <Part title="Request body" body={request} schemas={schemas} />}
          {response && <Part title={`Response, ${status}`} body={data(response)} schemas={schemas} isAnswer />}
        </div>
        <div class="stack">
          <Code samples={samples} />
          <TryIt key={operation.id} operation={operation} />
        </div>
      </div>
    </article>
  );
}

export function Method({ method }: { readonly method: string }) {
  return <span class={`method method-${method.toLowerCase()}`}>{method}</span>;
}

interface PartProps {
  readonly title: string;
  readonly body: Body;
  readonly schemas: Schemas;
  readonly isAnswer?: boolean;
}

function Part({ title, body: { media, schema, example }, schemas, isAnswer = false }: PartProps) {
  return (
    <section class="card stack" aria-label={title}>
      <header class="card-head">
        <h3>{title}</h3>
        <span class="muted small">{media}</span>
      </header>
      {media === JSON_MEDIA && <Fields schema={schema} schemas={schemas} label={title} isAnswer={isAnswer} />}
      {example !== undefined && (
        <details open={media !== JSON_MEDIA}>
          <summary>Example</summary>
          <Source label="Example">{typeof example === "string" ? example : JSON.stringify(example, null, 2)}</Source>
        </details>
      )}
    </section>
  );
}

/** Every answer has the same envelope; what differs is its data. */
function data(body: Body): Body {
  const schema = body.schema.properties?.["data"];
  return body.media === JSON_MEDIA && schema ? { ...body, schema } : body;
}

/** Try it: sends a request with the key of this tab, and shows what comes back. */
import { useState } from "preact/hooks";
import { mayUse, send } from "../../app/connection.js";
import { Button, CopyButton } from "../../parts/button.js";
import { Confirm } from "../../parts/dialog.js";
import { Field } from "../../parts/field.js";
import { bytes, ms } from "../../parts/format.js";
import { Failure } from "../../parts/states.js";
import { StoredText } from "../../parts/stored-text.js";
import { Source } from "./code.js";
import { JSON_MEDIA, type Operation, type Parameter, typeWords } from "./openapi.js";

interface Answer {
  readonly status: number;
  readonly words: string;
  readonly tookMs: number;
  readonly bytes: number;
  readonly text: string;
  /** Whether there is more that is not shown. */
  readonly isCut: boolean;
  /** More of a stream may arrive. */
  readonly isOpen: boolean;
}

/** A stream is read so far and for so long. */
const BYTES_MAX = 200_000;
const READ_MS = 5_000;

const textOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

const isRead = ({ method, id, access }: Operation): boolean =>
  method === "GET" || access === "read" || access === "none" || id === "previewContext";

export function TryIt({ operation }: { readonly operation: Operation }) {
  const { method, path, parameters, request } = operation;
  const shown = parameters.filter(({ in: place }) => place !== "header");
  const [values, setValues] = useState<{ readonly [name: string]: string }>(() =>
    Object.fromEntries(shown.map(({ name, example }) => [name, textOf(example)])),
  );
  const [body, setBody] = useState(textOf(request?.example));
  const [state, setState] = useState<"idle" | "sending" | { readonly answer: Answer } | { readonly error: unknown }>(
    "idle",
  );
  const [isAsking, setAsking] = useState(false);
  const isAllowed = mayUse(operation.access);
  const isArriving = typeof state === "object" && "answer" in state && state.answer.isOpen;

  const run = async (): Promise<void> => {
    setState("sending");
    try {
      const sent = request && { media: request.media, body };
      setState({
        answer: await ask(method, addressOf(path, shown, values), sent, (answer) => setState({ answer })),
      });
    } catch (error) {
      setState({ error });
    }
  };
  return (
    <form
      class="card stack try"
      aria-label="Try it"
      onSubmit={(event) => {
        event.preventDefault();
        if (method === "DELETE") setAsking(true);
        else void run();
      }}
    >
      <header class="card-head">
        <h3>Try it</h3>
        {!isRead(operation) && <span class="badge warn">writes to this memory</span>}
      </header>
      {shown.length > 0 && (
        <div class="scope">
          {shown.map((one) => (
            <Input
              key={one.name}
              parameter={one}
              value={values[one.name] ?? ""}
              onChange={(value) => setValues({ ...values, [one.name]: value })}
            />
          ))}
        </div>
      )}
      {request && (
        <Field label={request.media === JSON_MEDIA ? "Body" : `Body (${request.media})`}>
          <textarea
            class="input mono try-body"
            rows={Math.min(14, body.split("\n").length + 1)}
            spellcheck={false}
            value={body}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </Field>
      )}
      <div class="row">
        <Button kind="primary" type="submit" disabled={!isAllowed || state === "sending" || isArriving}>
          {isArriving ? "Receiving…" : state === "sending" ? "Sending…" : "Send"}
        </Button>
        {!isAllowed && <span class="muted">It needs a key with {operation.access} access.</span>}
      </div>
      {typeof state === "object" && "error" in state && <Failure error={state.error} />}
      {typeof state === "object" && "answer" in state && <Shown answer={state.answer} />}
      {isAsking && (
        <Confirm title="Send it?" action="Send" act={run} onClose={() => setAsking(false)}>
          <p>
            <code>
              {method} {addressOf(path, shown, values)}
            </code>
          </p>
          <p>It forgets or revokes something in this memory. This cannot be undone.</p>
        </Confirm>
      )}
    </form>
  );
}

interface InputProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Input({ parameter: { name, required, schema }, value, onChange }: InputProps) {
  const label = required ? `${name} (required)` : name;
  if (!schema.enum) {
    return (
      <Field label={label}>
        <input
          class="input"
          value={value}
          required={required}
          placeholder={typeWords(schema, {})}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </Field>
    );
  }
  return (
    <Field label={label}>
      <select class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {!required && <option value="" />}
        {schema.enum.map((one) => (
          <option key={String(one)} value={String(one)}>
            {String(one)}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Shown({ answer }: { readonly answer: Answer }) {
  const tone = answer.status < 300 ? "good" : answer.status < 500 ? "warn" : "bad";
  return (
    <section class="stack" aria-label="Response">
      <div class="card-head">
        <p class="row" role="status">
          <span class={`badge ${tone}`}>
            {answer.status} {answer.words}
          </span>
          <span class="muted small number">
            {ms(answer.tookMs)}, {bytes(answer.bytes)}
            {answer.isCut && ", and more"}
          </span>
        </p>
        <CopyButton text={() => answer.text} />
      </div>
      <Source label="What arrived">
        <StoredText text={answer.text} max={20_000} />
      </Source>
    </section>
  );
}

function addressOf(
  path: string,
  parameters: readonly Parameter[],
  values: { readonly [name: string]: string },
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const query = new URLSearchParams(
    parameters.flatMap(({ name, in: place }) => {
      const value = values[name] ?? "";
      return place === "query" && value !== "" ? [[name, value]] : [];
    }),
  ).toString();
  return query === "" ? filled : `${filled}?${query}`;
}

async function ask(
  method: string,
  address: string,
  sent: { readonly media: string; readonly body: string } | undefined,
  show: (soFar: Answer) => void,
): Promise<Answer> {
  const end = new AbortController();
  const started = performance.now();
  const response = await send(address, {
    method,
    signal: end.signal,
    ...(sent && { headers: { "content-type": sent.media }, body: sent.body }),
  });
  const tookMs = performance.now() - started;
  const { status, statusText: words } = response;
  const answerOf = ({ text, ...part }: Part, isOpen: boolean): Answer => ({
    status,
    words,
    tookMs,
    ...part,
    text: shownText(text, response),
    isOpen,
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const all = await readSome(response, (part) => isStream && show(answerOf(part, true)));
  if (all.isCut) end.abort();
  return answerOf(all, false);
}

type Part = Pick<Answer, "text" | "bytes" | "isCut">;

/** What arrives of a response soon; an event stream has no end, and a backup is large. */
async function readSome({ body }: Response, tell: (soFar: Part) => void): Promise<Part> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  const late = new Promise<"late">((resolve) => setTimeout(() => resolve("late"), READ_MS));
  let [text, length] = ["", 0];
  while (reader) {
    const next = await Promise.race([reader.read(), late]);
    if (next === "late") return { text, bytes: length, isCut: true };
    if (next.done) break;
    text += decoder.decode(next.value, { stream: true });
    length += next.value.length;
    if (length >= BYTES_MAX) return { text, bytes: length, isCut: true };
    tell({ text, bytes: length, isCut: false });
  }
  return { text, bytes: length, isCut: false };
}

function shownText(text: string, { headers }: Response): string {
  const type = headers.get("content-type") ?? "";
  if (!/^text\/|json/.test(type)) return `(${type || "no content"})`;
  if (!type.startsWith(JSON_MEDIA)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // cut short
  }
}

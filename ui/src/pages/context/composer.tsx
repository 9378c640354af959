/** The call: scope, question, budget and shares. Everything is kept in the URL. */
import { useEffect, useState } from "preact/hooks";
import { usePlace } from "../../app/place.js";
import { CopyButton } from "../../parts/button.js";
import { Check, Field } from "../../parts/field.js";
import { ScopeFields } from "../../parts/scope-fields.js";
import { BUDGET, COUNTERS, optionsIn, PART_NAMES, PARTS, SHARES, shareParam } from "./options.js";

const BUDGET_MIN = 50;
const BUDGET_MAX = 8_000;
const TYPING_MS = 250;

export function Composer() {
  const { params, change } = usePlace();
  const { user, agent, team, session } = params;
  return (
    <form class="card stack composer" aria-label="The call" onSubmit={(event) => event.preventDefault()}>
      <ScopeFields />
      <Question />
      <Budget />
      <details open={PARTS.some((part) => params[shareParam(part)] !== undefined)}>
        <summary>Shares</summary>
        <div class="stack shares">
          {PARTS.map((part) => {
            const value = Number(params[shareParam(part)] ?? SHARES[part]);
            return (
              <label key={part} class="share">
                <span class={`swatch part-${part}`} aria-hidden="true" />
                <span>{PART_NAMES[part]}</span>
                <input
                  type="range"
                  min="0"
                  max="1"
                  step="0.05"
                  value={value}
                  onInput={(event) => change({ [shareParam(part)]: event.currentTarget.value })}
                />
                <span class="number">{value.toFixed(2)}</span>
              </label>
            );
          })}
        </div>
      </details>
      <details open={["turns", "counter", "as_of", "fresh"].some((name) => params[name] !== undefined)}>
        <summary>More options</summary>
        <div class="stack">
          <div class="scope">
            <Field label="Recent turns">
              <input
                class="input"
                type="number"
                min="0"
                max="1000"
                value={params["turns"] ?? "5"}
                onChange={(event) => change({ turns: event.currentTarget.value })}
              />
            </Field>
            <Field label="Token counter">
              <select
                class="input"
                value={params["counter"] ?? ""}
                onChange={(event) => change({ counter: event.currentTarget.value })}
              >
                <option value="">default</option>
                {COUNTERS.map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Facts that held on">
              <input
                class="input"
                type="date"
                value={params["as_of"] ?? ""}
                onChange={(event) => change({ as_of: event.currentTarget.value })}
              />
            </Field>
          </div>
          <Check
            label="Assume an empty window"
            checked={params["fresh"] === "1"}
            onChange={(on) => change({ fresh: on ? "1" : undefined })}
          />
        </div>
      </details>
      <details>
        <summary>The call in code</summary>
        <div class="code-block">
          <pre>{codeOf({ user, agent, team, session }, params)}</pre>
          <CopyButton text={() => codeOf({ user, agent, team, session }, params)} />
        </div>
      </details>
    </form>
  );
}

/** The question goes into the URL when one stops typing. */
function Question() {
  const { params, change } = usePlace();
  const [text, setText] = useState(params["q"] ?? "");
  useEffect(() => setText(params["q"] ?? ""), [params["q"]]);
  useEffect(() => {
    if (text === (params["q"] ?? "")) return;
    const timer = setTimeout(() => change({ q: text }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Field label="What the next turn is about">
      <textarea
        class="input"
        rows={3}
        data-search
        name="query"
        placeholder="Plan her weekend"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </Field>
  );
}

function Budget() {
  const { params, change } = usePlace();
  const budget = Number(params["budget"] ?? BUDGET);
  const set = (event: { readonly currentTarget: { readonly value: string } }) =>
    change({ budget: event.currentTarget.value });
  return (
    <div class="budget-field">
      <Field label="Budget in tokens">
        <input class="input number" type="number" name="budget" min="1" value={budget} onChange={set} />
      </Field>
      <input
        type="range"
        aria-label="Budget in tokens"
        min={BUDGET_MIN}
        max={BUDGET_MAX}
        step="50"
        value={Math.min(budget, BUDGET_MAX)}
        onInput={set}
      />
    </div>
  );
}

function codeOf(
  scope: { readonly [name: string]: string | undefined },
  params: Parameters<typeof optionsIn>[0],
): string {
  const given = Object.fromEntries(Object.entries(scope).filter(([, value]) => value));
  const object = (value: object): string => JSON.stringify(value, null, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
  return `const session = memory.session(${object(given)});\nconst context = await session.context(${object(optionsIn(params))});`;
}

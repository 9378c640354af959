/** Configuration: every option in force, and where its value comes from. */

import type { ConfigOrigin, ConfigSetting } from "holdfast/client";
import { Fragment } from "preact";
import { memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { usePlace } from "../../app/place.js";
import { Segments } from "../../parts/field.js";
import { bytes, duration } from "../../parts/format.js";
import { Empty, Shown } from "../../parts/states.js";
import { StoredText } from "../../parts/stored-text.js";
import { Scrolling } from "./scrolling.js";

const WHICH = [
  ["", "All"],
  ["set", "Changed"],
] as const;

const isGiven = ({ origin }: ConfigSetting): boolean => origin.from !== "default";

export function Configuration() {
  const { params, change } = usePlace();
  const loaded = useLoaded(() => memory.value.config(), [memory.value]);
  const [wanted, isOnlySet] = [(params["q"] ?? "").toLowerCase(), params["which"] === "set"];
  return (
    <section class="card" aria-labelledby="config-head">
      <header>
        <h2 id="config-head">Configuration in force</h2>
        <div class="row">
          <Segments
            label="Which options"
            choices={WHICH}
            value={isOnlySet ? "set" : ""}
            onChoose={(which) => change({ which })}
          />
          <input
            class="input config-filter"
            type="search"
            data-search
            aria-label="Filter options"
            placeholder="Filter"
            value={params["q"] ?? ""}
            onInput={(event) => change({ q: event.currentTarget.value })}
          />
        </div>
      </header>
      <p class="muted config-about">
        Code and flags override the environment, which overrides the file. A change takes effect when the server is
        started again.
      </p>
      <Shown of={loaded} label="the configuration">
        {(settings) => {
          const shown = settings.filter(
            (setting) => (!isOnlySet || isGiven(setting)) && wordsOf(setting).includes(wanted),
          );
          if (shown.length === 0) {
            return (
              <Empty title="No such option">
                <p>{isOnlySet ? "Every option that fits has its default." : "No option fits the filter."}</p>
              </Empty>
            );
          }
          return (
            <Scrolling label="Options">
              <table class="config">
                <thead>
                  <tr>
                    <th scope="col">Option</th>
                    <th scope="col">Value</th>
                    <th scope="col">From</th>
                  </tr>
                </thead>
                {[...Map.groupBy(shown, groupOf)].map(([group, some]) => (
                  <Group key={group} group={group} settings={some} />
                ))}
              </table>
            </Scrolling>
          );
        }}
      </Shown>
    </section>
  );
}

const groupOf = ({ name }: ConfigSetting): string => name.slice(0, Math.max(0, name.lastIndexOf("."))) || "in code";

const wordsOf = ({ name, variable = "", value = "", origin }: ConfigSetting): string =>
  `${name} ${variable} ${value} ${originWords(origin)}`.toLowerCase();

function Group({ group, settings }: { readonly group: string; readonly settings: readonly ConfigSetting[] }) {
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={3}>
          <code>{group}</code>
        </th>
      </tr>
      {settings.map((setting) => (
        <tr key={setting.name} class={isGiven(setting) ? "" : "is-default"}>
          <td>
            <code title={setting.variable}>{setting.name.slice(setting.name.lastIndexOf(".") + 1)}</code>
          </td>
          <td>
            <Value setting={setting} />
          </td>
          <td>
            <StoredText text={originWords(setting.origin)} max={200} />
          </td>
        </tr>
      ))}
    </tbody>
  );
}

/** A size or a time in words as well, if it is long. */
function inWords(name: string, value: ConfigSetting["value"]): string | undefined {
  if (typeof value !== "number") return undefined;
  if (name.endsWith("_bytes") && value >= 1024) return bytes(value);
  return name.endsWith("_ms") && value >= 1000 ? duration(value) : undefined;
}

function Value({ setting }: { readonly setting: ConfigSetting }) {
  const { name, value, fallback, isSet, isSecret, origin } = setting;
  if (value === undefined) {
    if (!isSet) return <span class="muted">not set</span>;
    return <span class="badge accent">{isSecret ? "set, not shown" : "set in code"}</span>;
  }
  const words = inWords(name, value);
  const isOther = origin.from !== "default" && fallback !== undefined && fallback !== value;
  return (
    <>
      {String(value)
        .split(/(?<=,)/)
        .map((part, at) => (
          // A list breaks after its commas.
          <Fragment key={at}>
            {at > 0 && <wbr />}
            <StoredText text={part} max={200} />
          </Fragment>
        ))}
      {words !== undefined && <span class="muted small"> {words}</span>}
      {isOther && <span class="muted small"> default: {String(fallback)}</span>}
    </>
  );
}

function originWords(origin: ConfigOrigin): string {
  switch (origin.from) {
    case "default":
      return "default";
    case "program":
      return "default of the program";
    case "code":
      return "code or flag";
    case "file":
      return `${origin.path}, line ${origin.line}`;
    case "environment":
      return origin.variable;
  }
}

/** The options of one search, kept in the URL under a prefix. */
import { usePlace } from "../../app/place.js";
import { Field } from "../../parts/field.js";
import { BY, KINDS, ROLES, TOP_K, WITHIN } from "./answer.js";

export function OptionFields({ prefix, legend }: { readonly prefix: string; readonly legend: string }) {
  const { params, change } = usePlace();
  const value = (name: string): string => params[prefix + name] ?? "";
  const set = (name: string) => (event: { readonly currentTarget: { readonly value: string } }) =>
    change({ [prefix + name]: event.currentTarget.value });
  const choose = (name: string, label: string, choices: readonly (readonly [string, string])[]) => (
    <Field label={label}>
      <select class="input" value={value(name)} onChange={set(name)}>
        {choices.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </Field>
  );
  return (
    <details open={prefix !== "" || Object.keys(params).some((name) => OPTIONS.has(name))}>
      <summary>{legend}</summary>
      <div class="scope options">
        {choose("within", "Look in", WITHIN)}
        {choose("by", "By", BY)}
        {choose("role", "Said by", [["", "anyone"], ...ROLES.map((one) => [one, one] as const)])}
        {choose("kind", "Kind", [["", "all"], ...KINDS.map((one) => [one, one] as const)])}
        {choose("top", "Hits", [["", "10"], ...TOP_K.filter((one) => one !== "10").map((one) => [one, one] as const)])}
        <Field label="From">
          <input class="input" type="date" value={value("from")} onChange={set("from")} />
        </Field>
        <Field label="Before">
          <input class="input" type="date" value={value("to")} onChange={set("to")} />
        </Field>
      </div>
    </details>
  );
}

const OPTIONS: ReadonlySet<string> = new Set(["within", "by", "role", "kind", "top", "from", "to"]);

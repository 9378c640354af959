/** The fields of a scope, kept in the URL. Known users and sessions are offered while one types. */
import type { Page, SpaceRef } from "holdfast/client";
import { useEffect, useState } from "preact/hooks";
import { memory } from "../app/connection.js";
import { useLoaded } from "../app/loaded.js";
import { SCOPE_NAMES, spaceIn, usePlace } from "../app/place.js";
import { Field } from "./field.js";

type Name = (typeof SCOPE_NAMES)[number];
const LABELS: { readonly [name in Name]: string } = { user: "User", agent: "Agent", team: "Team", session: "Session" };
const NAMES_MAX = 100;

export function ScopeFields({ names = SCOPE_NAMES }: { readonly names?: readonly Name[] }) {
  const { params, change } = usePlace();
  return (
    <div class="scope">
      {names.map((name) => (
        <ScopeField key={name} name={name} value={params[name] ?? ""} onChange={(value) => change({ [name]: value })} />
      ))}
    </div>
  );
}

interface ScopeFieldProps {
  readonly name: Name;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ScopeField({ name, value, onChange }: ScopeFieldProps) {
  const { params } = usePlace();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const space = spaceIn(params);
  const known = useLoaded(() => namesOf(name, space), [name, JSON.stringify(space), memory.value]);
  const list = `known-${name}`;
  return (
    <Field label={LABELS[name]}>
      <input
        class="input"
        name={name}
        list={list}
        value={text}
        autocomplete="off"
        spellcheck={false}
        placeholder={name === "user" ? "for example ada" : "any"}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
      <datalist id={list}>
        {known.state === "ready" && known.value.map((one) => <option key={one} value={one} />)}
      </datalist>
    </Field>
  );
}

async function namesOf(name: Name, space: SpaceRef | undefined): Promise<readonly string[]> {
  const { users, agents, teams, sessions } = memory.value;
  if (name === "session") return space ? names(await sessions.list({ space, limit: NAMES_MAX })) : [];
  const registry = { user: users, agent: agents, team: teams }[name];
  return names(await registry.list({ limit: NAMES_MAX }));
}

const names = ({ items }: Page<{ readonly name: string }>): readonly string[] => items.map(({ name }) => name);

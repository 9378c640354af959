/** The first level: users, agents or teams. */
import type { SpaceRef } from "holdfast/client";
import { useRef, useState } from "preact/hooks";
import { isAdmin, mayWrite, memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { hrefTo, usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { Segments } from "../../parts/field.js";
import { plural, spaceName } from "../../parts/format.js";
import { PAGE, PageButtons } from "../../parts/page-buttons.js";
import { Shown } from "../../parts/states.js";
import { StoredName, spelled } from "../../parts/stored-text.js";

const KINDS = [
  ["users", "Users"],
  ["agents", "Agents"],
  ["teams", "Teams"],
] as const;
type Kind = (typeof KINDS)[number][0];

interface SpacesProps {
  readonly selected: SpaceRef | undefined;
  readonly onForget: (space: SpaceRef) => void;
}

export function Spaces({ selected, onForget }: SpacesProps) {
  const { params, change } = usePlace();
  const [at, setAt] = useState<{ readonly kind: Kind; readonly cursor: string | undefined }>();
  const of = selected && Object.keys(selected)[0];
  const kind: Kind = KINDS.find(([one]) => one === (of === undefined ? params["kind"] : `${of}s`))?.[0] ?? "users";
  const cursor = at?.kind === kind ? at.cursor : undefined;
  const one = kind.slice(0, -1) as "user" | "agent" | "team";
  const known = useRef<ReadonlySet<string>>(new Set());
  const changes = useChanges(
    (event) =>
      ["forgotten", "renamed"].includes(event.type) ||
      (["added", "promoted"].includes(event.type) && "space" in event && !known.current.has(spaceName(event.space))),
  );
  const loaded = useLoaded(
    async () => {
      const [page, stats] = await Promise.all([
        memory.value[kind].list({ limit: PAGE, ...(cursor !== undefined && { cursor }) }),
        isAdmin.value ? memory.value.stats() : undefined,
      ]);
      return { page, total: stats?.store[kind] };
    },
    [kind, memory.value, cursor],
    [changes],
  );
  if (loaded.state === "ready") known.current = new Set(loaded.value.page.items.map(({ name }) => `${one} ${name}`));
  return (
    <section class="card talk-spaces" aria-label="Users, agents and teams">
      <Segments
        label="Kind"
        choices={KINDS}
        value={kind}
        onChoose={(next) => change({ kind: next, user: "", agent: "", team: "", session: "", item: "", all: "" })}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get("name") ?? "").trim();
          if (name !== "")
            change({ user: "", agent: "", team: "", session: "", item: "", all: "", [one]: name }, { push: true });
        }}
      >
        <input class="input" name="name" aria-label={`Go to a ${one}`} placeholder="Go to a name" autocomplete="off" />
      </form>
      <Shown of={loaded} label={kind}>
        {({ page, total = 0 }) => (
          <>
            {page.items.length === 0 && <p class="muted">No {kind} yet.</p>}
            {total > 0 && <p class="muted small number">{plural(total, one)}</p>}
            <ul class="picks">
              {page.items.map(({ id, name }) => {
                const space = { [one]: name } as unknown as SpaceRef;
                return (
                  <li key={id}>
                    <a
                      href={hrefTo("/conversations", { [one]: name })}
                      aria-current={selected && Object.values(selected)[0] === name ? "true" : undefined}
                    >
                      <StoredName text={name} max={60} />
                    </a>
                    {mayWrite.value && <ForgetButton what={one} name={name} onClick={() => onForget(space)} />}
                  </li>
                );
              })}
            </ul>
            <PageButtons page={page} cursor={cursor} onGo={(next) => setAt({ kind, cursor: next })} />
          </>
        )}
      </Shown>
    </section>
  );
}

interface ForgetButtonProps {
  readonly what: string;
  readonly name: string;
  readonly onClick: () => void;
}

export function ForgetButton({ what, name, onClick }: ForgetButtonProps) {
  return (
    <Button
      kind="quiet"
      small
      aria-label={`Forget ${what} ${spelled(name.slice(0, 60))}`}
      title="Forget…"
      onClick={onClick}
    >
      <svg class="icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" aria-hidden="true">
        <path d="M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4" stroke-linecap="round" />
      </svg>
    </Button>
  );
}

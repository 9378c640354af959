/** Creates a key, and shows its secret once. */
import type { CreatedKey, NewKey } from "holdfast/client";
import { useState } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { Button, CopyButton } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Field, Segments } from "../../parts/field.js";
import { spaceName } from "../../parts/format.js";
import { Failure } from "../../parts/states.js";
import { StoredName, StoredText } from "../../parts/stored-text.js";

type Access = NewKey["access"];
type KeySpace = NewKey["spaces"][number];
type Kind = "user" | "agent" | "team";

const ACCESS: readonly (readonly [Access, string])[] = [
  ["read", "Read"],
  ["write", "Read and write"],
  ["admin", "Admin"],
];
const KINDS: readonly Kind[] = ["user", "agent", "team"];
const DAY_MS = 86_400_000;
const EXPIRIES: readonly (readonly [days: string, name: string])[] = [
  ["", "Never"],
  ["1", "In a day"],
  ["7", "In a week"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
];

interface NewKeyDialogProps {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function NewKeyDialog({ onMade, onClose }: NewKeyDialogProps) {
  const [made, setMade] = useState<CreatedKey | undefined>();
  if (made) return <Secret made={made} onClose={onClose} />;
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <NewKeyForm
        onMade={(key) => {
          setMade(key);
          onMade();
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}

function NewKeyForm({
  onMade,
  onClose,
}: {
  readonly onMade: (made: CreatedKey) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [level, setLevel] = useState<Access>("read");
  const [spaces, setSpaces] = useState<readonly KeySpace[]>([]);
  const [days, setDays] = useState("");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      onMade(
        await memory.value.keys.create({
          access: level,
          spaces: level === "admin" ? KINDS : spaces,
          ...(name.trim() !== "" && { name: name.trim() }),
          ...(days !== "" && { expiresAt: Date.now() + Number(days) * DAY_MS }),
        }),
      );
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form
      class="stack key-form"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <Field label="Name">
        <input
          class="input"
          value={name}
          maxLength={200}
          placeholder="what it is for"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <div class="field">
        <span class="label">Access</span>
        <Segments label="Access" choices={ACCESS} value={level} onChoose={setLevel} />
      </div>
      {level === "admin" ? (
        <p class="muted">An admin key has access to everything: all spaces, keys, settings and exports.</p>
      ) : (
        <Spaces spaces={spaces} onChange={setSpaces} />
      )}
      <Field label="Expires">
        <select class="input" value={days} onChange={(event) => setDays(event.currentTarget.value)}>
          {EXPIRIES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={isBusy || (level !== "admin" && spaces.length === 0)}>
          Create
        </Button>
      </div>
    </form>
  );
}

const EVERY = "every";

interface SpacesProps {
  readonly spaces: readonly KeySpace[];
  readonly onChange: (spaces: readonly KeySpace[]) => void;
}

/** The spaces that the key covers: one by one, or every space of a kind. */
function Spaces({ spaces, onChange }: SpacesProps) {
  const [kind, setKind] = useState<string>("user");
  const [name, setName] = useState("");
  const isEvery = kind.startsWith(EVERY);
  const add = (): void => {
    const space = (isEvery ? kind.slice(EVERY.length + 1) : { [kind]: name.trim() }) as KeySpace;
    const isKnown = spaces.some((one) => JSON.stringify(one) === JSON.stringify(space));
    if (!isEvery && name.trim() === "") return;
    if (!isKnown) onChange([...spaces, space]);
    setName("");
  };
  return (
    <fieldset class="field">
      <legend class="label">Covers</legend>
      {spaces.length > 0 && (
        <ul class="row">
          {spaces.map((space) => (
            <li key={JSON.stringify(space)} class="badge accent">
              <StoredName text={nameOf(space)} max={60} />
              <button
                type="button"
                class="chip-remove"
                aria-label={`Remove ${nameOf(space)}`}
                onClick={() => onChange(spaces.filter((one) => one !== space))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="space-add">
        <select class="input" aria-label="Kind" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              The {one}
            </option>
          ))}
          {KINDS.map((one) => (
            <option key={one} value={`${EVERY} ${one}`}>
              Every {one}
            </option>
          ))}
        </select>
        <input
          class="input"
          aria-label="Name of the space"
          placeholder={isEvery ? "all of them" : "for example ada"}
          disabled={isEvery}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <Button onClick={add}>Add</Button>
      </div>
    </fieldset>
  );
}

const nameOf = (space: KeySpace): string => (typeof space === "string" ? `every ${space}` : spaceName(space));

function Secret({ made: { key, secret }, onClose }: { readonly made: CreatedKey; readonly onClose: () => void }) {
  return (
    <Dialog title="Copy the secret now" onClose={onClose}>
      <p>
        This is the secret of <StoredText text={key.name ?? key.id} max={120} />. The server keeps a hash of it only, so
        it cannot be shown again.
      </p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={() => secret} />
      </div>
      <p class="muted small">
        Send it in a header: <code>Authorization: Bearer hf_…</code>
      </p>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

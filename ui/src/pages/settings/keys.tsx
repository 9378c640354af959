/** API keys: who may do what on this server. */
import type { ApiKey } from "holdfast/client";
import { useState } from "preact/hooks";
import { access, memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { Button } from "../../parts/button.js";
import { Confirm } from "../../parts/dialog.js";
import { moment, spaceName } from "../../parts/format.js";
import { Empty, Shown } from "../../parts/states.js";
import { StoredName, StoredText } from "../../parts/stored-text.js";
import { NewKeyDialog } from "./new-key.js";
import { Scrolling } from "./scrolling.js";

export function Keys() {
  const [changes, setChanges] = useState(0);
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey | undefined>();
  const loaded = useLoaded(allKeys, [memory.value], [changes]);
  const changed = (): void => setChanges((before) => before + 1);
  return (
    <section class="card" aria-labelledby="keys-head">
      <header>
        <h2 id="keys-head">API keys</h2>
        <Button kind="primary" onClick={() => setMaking(true)}>
          Create a key
        </Button>
      </header>
      <Shown of={loaded} label="the keys">
        {(keys) => {
          const [valid, ended] = [keys.filter(isValid), keys.filter((key) => !isValid(key))];
          return (
            <div class="stack">
              {valid.length === 0 ? (
                <Empty title="No keys yet">
                  <p>
                    Programs on this machine need none. Create a key for each program or person that calls the server
                    from elsewhere.
                  </p>
                </Empty>
              ) : (
                <KeyTable keys={valid} onRevoke={setRevoked} />
              )}
              {ended.length > 0 && (
                <details>
                  <summary>{ended.length} revoked or expired</summary>
                  <KeyTable keys={ended} />
                </details>
              )}
            </div>
          );
        }}
      </Shown>
      {isMaking && <NewKeyDialog onMade={changed} onClose={() => setMaking(false)} />}
      {revoked && (
        <Confirm
          title="Revoke this key?"
          action="Revoke"
          act={() => memory.value.keys.revoke(revoked.id)}
          onClose={() => {
            setRevoked(undefined);
            changed();
          }}
        >
          <p>
            <StoredText text={revoked.name ?? revoked.id} max={120} /> is refused from the next request on. This cannot
            be undone.
          </p>
          {revoked.id === ownKey() && (
            <p class="notice warn">
              <span>
                <strong>It is the key of this tab.</strong> The dashboard will ask for another one.
              </span>
            </p>
          )}
        </Confirm>
      )}
    </section>
  );
}

async function allKeys(): Promise<readonly ApiKey[]> {
  const keys: ApiKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await memory.value.keys.list(cursor === undefined ? {} : { cursor });
    keys.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return keys.reverse();
}

const isValid = ({ revokedAt, expiresAt = Infinity }: ApiKey): boolean =>
  revokedAt === undefined && expiresAt > Date.now();

const ownKey = (): string | undefined => (access.value.state === "open" ? access.value.rights.key?.id : undefined);

const TONES: { readonly [access in ApiKey["access"]]: string } = { read: "", write: "accent", admin: "warn" };

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly onRevoke?: (key: ApiKey) => void;
}

function KeyTable({ keys, onRevoke }: KeyTableProps) {
  return (
    <Scrolling label="Keys">
      <table class="keys">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Access</th>
            <th scope="col">Covers</th>
            <th scope="col">Created</th>
            <th scope="col">{onRevoke ? "Expires" : "Ended"}</th>
            {onRevoke && <th scope="col" aria-label="Actions" />}
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                <StoredName text={key.name ?? "no name"} max={120} />
                {key.id === ownKey() && <span class="badge good">this tab</span>}
                <br />
                <code class="muted small">{key.id}</code>
              </td>
              <td>
                <span class={`badge ${TONES[key.access]}`}>{key.access}</span>
              </td>
              <td>
                <StoredText text={coverage(key)} max={200} />
              </td>
              <td class="number">{moment(key.createdAt)}</td>
              <td class="number" data-label={onRevoke ? "Expires" : "Ended"}>
                {key.revokedAt ? moment(key.revokedAt) : key.expiresAt ? moment(key.expiresAt) : "never"}
              </td>
              {onRevoke && (
                <td>
                  <Button small kind="danger" onClick={() => onRevoke(key)}>
                    Revoke
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

function coverage({ access: level, spaces, forgotten = [] }: ApiKey): string {
  if (level === "admin") return "everything";
  const named = spaces.map((space) => (typeof space === "string" ? `every ${space}` : spaceName(space)));
  return [...named, ...forgotten.map((kind) => `a forgotten ${kind}`)].join(", ") || "nothing any more";
}

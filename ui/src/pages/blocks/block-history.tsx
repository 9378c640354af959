/** The history of a block as a time line, newest first: who changed what and why, and a way back. */
import type { Block, BlockEdit, Blocks } from "holdfast/client";
import { useState } from "preact/hooks";
import { mayWrite, memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { Button } from "../../parts/button.js";
import { age, moment } from "../../parts/format.js";
import { Failure, Shown } from "../../parts/states.js";
import { StoredName, StoredText } from "../../parts/stored-text.js";
import { Diff } from "./diff.js";

const STEP = 20;

interface BlockHistoryProps {
  readonly block: Block;
  readonly blocks: Blocks;
  readonly onRestored: () => void;
}

export function BlockHistory({ block, blocks, onRestored }: BlockHistoryProps) {
  const [limit, setLimit] = useState(STEP);
  const [error, setError] = useState<unknown>();
  const { id, name, version } = block;
  const loaded = useLoaded(() => blocks.history(name, { limit, creation: true }), [id, memory.value], [version, limit]);
  const restore = async (wanted: number): Promise<void> => {
    setError(undefined);
    try {
      await blocks.restore(name, wanted, { expectVersion: version });
    } catch (failure) {
      setError(failure);
    }
    onRestored();
  };
  return (
    <section class="card" aria-labelledby="history-head">
      <header>
        <h2 id="history-head">History</h2>
      </header>
      {error !== undefined && <Failure error={error} />}
      <Shown of={loaded} label="the history">
        {(edits) => (
          <>
            <ol class="history">
              {edits.map((edit) => (
                <li key={edit.version}>
                  <Edit
                    edit={edit}
                    blocks={blocks}
                    name={name}
                    isNewest={edit.version === version}
                    onRestore={() => restore(edit.version)}
                    hasText={edit.new !== block.content}
                  />
                </li>
              ))}
            </ol>
            {edits.length === limit && (
              <Button small onClick={() => setLimit(limit + STEP)}>
                Earlier versions
              </Button>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

interface EditProps {
  readonly edit: BlockEdit;
  readonly blocks: Blocks;
  readonly name: string;
  readonly isNewest: boolean;
  /** Whether its text differs from that of the block. */
  readonly hasText: boolean;
  readonly onRestore: () => Promise<void>;
}

function Edit({ edit, blocks, name, isNewest, hasText, onRestore }: EditProps) {
  const { version, actor, reason, at, formerName } = edit;
  const [isOpen, setOpen] = useState(isNewest);
  const [isBusy, setBusy] = useState(false);
  return (
    <article class="edit" aria-label={`Version ${version}`}>
      <header class="row">
        <strong class="number">Version {version}</strong>
        {actor !== undefined && (
          <span class="badge">
            <StoredName text={actor} max={60} />
          </span>
        )}
        <time class="muted small" dateTime={new Date(at).toISOString()} title={moment(at)}>
          {age(at)} ago
        </time>
        {mayWrite.value && hasText && (
          <Button
            small
            disabled={isBusy}
            onClick={() => {
              setBusy(true);
              void onRestore().finally(() => setBusy(false));
            }}
          >
            Restore this version
          </Button>
        )}
      </header>
      {reason !== "" && (
        <p>
          <StoredText text={reason} max={400} />
        </p>
      )}
      {formerName !== undefined && (
        <p class="muted small">
          renamed, formerly <StoredName text={formerName} />
        </p>
      )}
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="small">What changed</summary>
        {isOpen && <Change edit={edit} blocks={blocks} name={name} />}
      </details>
    </article>
  );
}

function Change({ edit, blocks, name }: Pick<EditProps, "edit" | "blocks" | "name">) {
  const { version } = edit;
  const loaded = useLoaded(
    async () => (version === 1 ? addedLines(edit.new) : blocks.diff(name, version - 1, version)),
    [version, memory.value],
  );
  return (
    <Shown of={loaded} label="the changes">
      {(diff) => <Diff diff={diff} />}
    </Shown>
  );
}

/** The first version as a diff: everything is new. */
const addedLines = (text: string): string =>
  text === "" ? "" : `@@\n${text.replace(/\n$/, "").replaceAll(/^/gm, "+")}`;

/** One block: its text, its settings, its history, and what can be done with it. */
import type { Block, Blocks } from "holdfast/client";
import { useState } from "preact/hooks";
import { mayWrite } from "../../app/connection.js";
import { Button } from "../../parts/button.js";
import { age, moment } from "../../parts/format.js";
import { Failure } from "../../parts/states.js";
import { StoredName, StoredText } from "../../parts/stored-text.js";
import { BlockDialog } from "./block-dialog.js";
import { BlockEditor } from "./block-editor.js";
import { BlockHistory } from "./block-history.js";
import { Budget, tokensOf } from "./budget.js";

interface BlockDetailProps {
  readonly block: Block;
  readonly blocks: Blocks;
  /** It was changed, and has this name now. */
  readonly onChanged: (name: string) => void;
  /** Called with the block when its editor opens, and with nothing when it closes. */
  readonly onEditing: (block: Block | undefined) => void;
  readonly onDelete: () => void;
}

const POLICIES: { readonly [policy in Block["policy"]]: string } = {
  manual: "an edit over the budget is kept",
  refuse: "an edit over the budget is refused",
  archive: "what exceeds the budget becomes a searchable item",
};

export function BlockDetail({ block, blocks, onChanged, onEditing, onDelete }: BlockDetailProps) {
  const [open, setOpen] = useState<"editor" | "settings">();
  const [error, setError] = useState<unknown>();
  const { name, content, description, version, updatedAt, readOnly, policy, maxTokens } = block;
  const close = (): void => {
    setOpen(undefined);
    onEditing(undefined);
  };
  const edit = (): void => {
    onEditing(block);
    setOpen("editor");
  };
  const archive = (): void => {
    setError(undefined);
    blocks.archiveOverflow(name, { expectVersion: version }).then(() => onChanged(name), setError);
  };
  return (
    <div class="stack">
      <section class="card stack" aria-labelledby="block-head">
        <header class="card-head">
          <h2 id="block-head">
            <StoredName text={name} />
          </h2>
          {mayWrite.value && open !== "editor" && (
            <div class="row">
              {(tokensOf(block) ?? 0) > maxTokens && !readOnly && (
                <Button small onClick={archive}>
                  Archive what exceeds it
                </Button>
              )}
              <Button small disabled={readOnly} onClick={edit}>
                Edit
              </Button>
              <Button small onClick={() => setOpen("settings")}>
                Settings
              </Button>
              <Button small kind="danger" disabled={readOnly} onClick={onDelete}>
                Delete…
              </Button>
            </div>
          )}
        </header>
        {description !== undefined && (
          <p class="muted">
            <StoredText text={description} max={400} />
          </p>
        )}
        <Budget block={block} />
        <p class="row small muted">
          <span class="badge">version {version}</span>
          {readOnly && <span class="badge warn">read-only</span>}
          <span title={moment(updatedAt)}>edited {age(updatedAt)} ago</span>
          <span>{POLICIES[policy]}</span>
        </p>
        {error !== undefined && <Failure error={error} />}
        {open === "editor" ? (
          <BlockEditor block={block} blocks={blocks} onClose={close} onSaved={() => onChanged(name)} />
        ) : (
          <div class="block-text">
            {content === "" ? <span class="muted">It is empty.</span> : <StoredText text={content} max={20_000} />}
          </div>
        )}
      </section>
      <BlockHistory block={block} blocks={blocks} onRestored={() => onChanged(name)} />
      {open === "settings" && (
        <BlockDialog block={block} blocks={blocks} onClose={close} onSaved={(saved) => onChanged(saved)} />
      )}
    </div>
  );
}

/** The blocks of a space, and the one that the URL names. */
import type { Block, SpaceRef } from "holdfast/client";
import { useState } from "preact/hooks";
import { mayWrite, memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { hrefTo, usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { ForgetDialog } from "../../parts/forget-dialog.js";
import { Empty, Shown } from "../../parts/states.js";
import { StoredName } from "../../parts/stored-text.js";
import { BlockDetail } from "./block-detail.js";
import { BlockDialog } from "./block-dialog.js";
import { Budget } from "./budget.js";

export function BlockList({ space }: { readonly space: SpaceRef }) {
  const { params, change } = usePlace();
  const [isCreating, setCreating] = useState(false);
  /** The block that is being edited: it stays on show whatever others do with it. */
  const [held, setHeld] = useState<Block>();
  const [doomed, setDoomed] = useState<string>();
  const key = JSON.stringify(space);
  const changes = useChanges(
    (event) =>
      "space" in event && JSON.stringify(event.space) === key && ["block", "forgotten", "renamed"].includes(event.type),
  );
  const blocks = memory.value.session(space).blocks;
  const loaded = useLoaded(() => blocks.list(), [key, memory.value], [changes]);
  const reload = (): void => {
    if (loaded.state === "ready") loaded.reload();
  };
  const open = (name: string): void => {
    change({ block: name });
    reload();
  };
  return (
    <>
      <Shown of={loaded} label="the blocks">
        {(all) => {
          const named = all.find(({ name }) => name === params["block"]);
          const edited = held && (all.find(({ id }) => id === held.id) ?? held);
          const shown = edited ?? named ?? (params["block"] ? undefined : all[0]);
          return (
            <div class="blocks-two">
              <section class="card stack" aria-label="Blocks">
                {all.length === 0 && <p class="muted">No blocks yet.</p>}
                <ul class="picks">
                  {all.map((block) => (
                    <Pick key={block.id} block={block} space={space} isShown={block === shown} />
                  ))}
                </ul>
                {mayWrite.value && (
                  <div>
                    <Button small onClick={() => setCreating(true)}>
                      New block
                    </Button>
                  </div>
                )}
              </section>
              {shown ? (
                <BlockDetail
                  key={shown.id}
                  block={shown}
                  blocks={blocks}
                  onChanged={open}
                  onEditing={setHeld}
                  onDelete={() => setDoomed(shown.name)}
                />
              ) : (
                <section class="card">
                  <Empty title={params["block"] ? "There is no such block" : "Nothing is written down"}>
                    <p>
                      A block is a named text that agents read with every prompt and edit as they learn, such as a
                      persona or a list of tasks.
                    </p>
                  </Empty>
                </section>
              )}
            </div>
          );
        }}
      </Shown>
      {isCreating && <BlockDialog blocks={blocks} onClose={() => setCreating(false)} onSaved={open} />}
      {doomed !== undefined && (
        <ForgetDialog
          title="Delete this block"
          verb="Delete the block"
          name={doomed}
          forget={() => blocks.delete(doomed)}
          onDone={() => change({ block: undefined })}
          onClose={() => {
            setDoomed(undefined);
            reload();
          }}
        >
          <p>Its text, its whole history and what was archived of it are removed. This cannot be undone.</p>
        </ForgetDialog>
      )}
    </>
  );
}

interface PickProps {
  readonly block: Block;
  readonly space: SpaceRef;
  readonly isShown: boolean;
}

function Pick({ block, space, isShown }: PickProps) {
  return (
    <li>
      <a href={hrefTo("/blocks", { ...space, block: block.name })} aria-current={isShown ? "true" : undefined}>
        <span class="grow">
          <StoredName text={block.name} />
          <Budget block={block} />
        </span>
      </a>
    </li>
  );
}

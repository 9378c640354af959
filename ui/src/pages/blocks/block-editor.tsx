/**
 * Edits a block, with a reason. If others edited it meanwhile, both texts are shown, and nothing is written until the
 * reader merges them, overwrites the newer one knowingly, or takes it.
 */
import { type Block, type Blocks, HoldfastError } from "holdfast/client";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { Field } from "../../parts/field.js";
import { Failure } from "../../parts/states.js";
import { StoredText } from "../../parts/stored-text.js";
import { Budget } from "./budget.js";

interface BlockEditorProps {
  /** As it was listed last: newer than what is edited if others edited it meanwhile, older if it is gone by now. */
  readonly block: Block;
  readonly blocks: Blocks;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function BlockEditor({ block, blocks, onClose, onSaved }: BlockEditorProps) {
  const [base, setBase] = useState(block);
  const [read, setRead] = useState(block);
  const [text, setText] = useState(block.content);
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [isOverlapping, setOverlapping] = useState(false);
  const [error, setError] = useState<unknown>();
  const newest = [base, read, block].reduce((one, other) => (other.version > one.version ? other : one));
  const isOvertaken = newest.version > base.version;

  const save = async (options: { readonly expectVersion: number; readonly merge?: boolean }): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const note = reason.trim() === "" ? {} : { reason: reason.trim() };
      await blocks.edit(block.name, { content: text, ...note, ...options });
      onSaved();
      onClose();
    } catch (failure) {
      await explain(failure, options.merge === true).catch(setError);
    }
    setBusy(false);
  };
  const explain = async (failure: unknown, isMerge: boolean): Promise<void> => {
    if (!(failure instanceof HoldfastError) || failure.code !== "conflict") return setError(failure);
    const now = await blocks.get(block.name);
    if (!now) return setError(failure);
    setRead(now);
    setOverlapping(isMerge);
  };
  return (
    <form
      class="stack"
      aria-label="Edit the block"
      onSubmit={(event) => {
        event.preventDefault();
        void save({ expectVersion: newest.version });
      }}
    >
      {isOvertaken && (
        <div class="notice warn" role="alert">
          <div>
            <strong>
              Others edited it meanwhile: it is at version {newest.version}, and you began with {base.version}.
            </strong>{" "}
            {isOverlapping
              ? "The edits overlap, so they cannot be merged by themselves. Change your text by hand, then save it over theirs."
              : "Merge the two if they do not overlap, or change your text by hand and save it over theirs."}
          </div>
        </div>
      )}
      <div class={isOvertaken ? "sides" : undefined}>
        <Field label={isOvertaken ? "Your text" : "Text"}>
          <textarea class="input mono" rows={12} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        {isOvertaken && (
          <div class="field">
            <span class="label">The text now, version {newest.version}</span>
            <div class="quote mono theirs">
              <StoredText text={newest.content} max={20_000} />
            </div>
          </div>
        )}
      </div>
      <Budget block={{ ...newest, content: text }} />
      <Field label="Reason">
        <input
          class="input"
          value={reason}
          placeholder="Why? It is kept in the history."
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </Field>
      {error !== undefined && <Failure error={error} />}
      <div class="row">
        {isOvertaken && !isOverlapping && (
          <Button
            kind="primary"
            disabled={isBusy}
            onClick={() => void save({ expectVersion: base.version, merge: true })}
          >
            Merge both
          </Button>
        )}
        <Button kind={isOvertaken ? "plain" : "primary"} type="submit" disabled={isBusy || text === newest.content}>
          {isOvertaken ? `Save over version ${newest.version}` : "Save"}
        </Button>
        {isOvertaken && (
          <Button
            onClick={() => {
              setText(newest.content);
              setBase(newest);
              setOverlapping(false);
            }}
          >
            Take theirs
          </Button>
        )}
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

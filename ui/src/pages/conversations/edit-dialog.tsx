/**
 * Edits a message. If it was edited in the meantime, the newer text is shown beside the user's own, which stays as typed, and
 * nothing is written until the user decides.
 */
import { HoldfastError, type Item, type Session } from "holdfast/client";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Field } from "../../parts/field.js";
import { Failure } from "../../parts/states.js";
import { StoredText } from "../../parts/stored-text.js";

interface EditDialogProps {
  readonly item: Item;
  readonly session: Session;
  readonly onClose: () => void;
  readonly onSaved: (id: string) => void;
}

export function EditDialog({ item, session, onClose, onSaved }: EditDialogProps) {
  const [text, setText] = useState(item.content);
  const [base, setBase] = useState(item);
  const [isConflict, setConflict] = useState(false);
  const [isGone, setGone] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const isChanged = text !== base.content;

  const save = async (): Promise<void> => {
    await session.update(item.id, { content: text }, { expectVersion: base.version });
    onSaved(item.id);
    onClose();
  };
  const explain = async (failure: unknown): Promise<void> => {
    const code = failure instanceof HoldfastError ? failure.code : undefined;
    if (code !== "conflict" && code !== "not_found") return setError(failure);
    const [newest] = await session.get([item.id]);
    onSaved(item.id);
    setGone(newest === undefined);
    setConflict(newest !== undefined);
    if (newest) setBase(newest);
  };
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await save().catch(explain);
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <Dialog title="Edit this message" isWide={isConflict} isHeld={isChanged} onClose={onClose}>
      {item.parts && (
        <p class="notice warn">
          <span>
            <strong>It consists of parts.</strong> Saving replaces them all, with images and the like, by this text.
          </span>
        </p>
      )}
      {isGone && (
        <p class="notice" role="alert">
          <span>
            <strong>The message was deleted meanwhile.</strong> Your text was not saved; copy it if you need it.
          </span>
        </p>
      )}
      {isConflict && (
        <p class="notice warn" role="alert">
          <span>
            <strong>Somebody changed it meanwhile, to version {base.version}.</strong> Yours was not saved. Compare the
            two, then save yours over it, or take theirs.
          </span>
        </p>
      )}
      <div class={isConflict ? "sides" : undefined}>
        <Field label={isConflict ? "Your text" : "Text"}>
          <textarea class="input" rows={10} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        {isConflict && (
          <div class="field">
            <span class="label">The text now, version {base.version}</span>
            <div class="quote theirs">
              <StoredText text={base.content} />
            </div>
          </div>
        )}
      </div>
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <Button onClick={onClose}>{isGone ? "Close" : "Cancel"}</Button>
        {isConflict && isChanged && <Button onClick={() => setText(base.content)}>Take theirs</Button>}
        {!isGone && (
          <Button kind="primary" disabled={isBusy || !isChanged} onClick={() => void run()}>
            {isConflict ? `Save over version ${base.version}` : "Save"}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

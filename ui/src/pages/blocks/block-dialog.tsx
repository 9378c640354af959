/** Creates a block, or changes the settings of one. */
import type { Block, BlockSettings, Blocks } from "holdfast/client";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Check, Field } from "../../parts/field.js";
import { Failure } from "../../parts/states.js";

const BUDGET = 4_096;
const POLICIES = [
  ["manual", "keep it"],
  ["refuse", "refuse the edit"],
  ["archive", "archive what exceeds it"],
] as const;

interface BlockDialogProps {
  /** Undefined: a new one. */
  readonly block?: Block;
  readonly blocks: Blocks;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}

export function BlockDialog({ block, blocks, onClose, onSaved }: BlockDialogProps) {
  const [name, setName] = useState(block?.name ?? "");
  const [content, setContent] = useState("");
  const [description, setDescription] = useState(block?.description ?? "");
  const [maxTokens, setMaxTokens] = useState(String(block?.maxTokens ?? BUDGET));
  const [policy, setPolicy] = useState(block?.policy ?? "manual");
  const [readOnly, setReadOnly] = useState(block?.readOnly ?? false);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);

  const create = async (): Promise<void> => {
    const note = description === "" ? {} : { description };
    await blocks.create({ name, content, maxTokens: Number(maxTokens), policy, readOnly, ...note });
  };
  const amend = async (before: Block): Promise<void> => {
    const settings: BlockSettings = {
      ...(description !== (before.description ?? "") && { description: description === "" ? null : description }),
      ...(Number(maxTokens) !== before.maxTokens && { maxTokens: Number(maxTokens) }),
      ...(policy !== before.policy && { policy }),
      ...(readOnly !== before.readOnly && { readOnly }),
    };
    const isRenamed = name !== before.name;
    // A read-only block can be renamed only before it becomes one, or after.
    if (isRenamed && !before.readOnly) await blocks.rename(before.name, name);
    const current = isRenamed && !before.readOnly ? name : before.name;
    if (Object.keys(settings).length > 0) await blocks.configure(current, settings);
    if (isRenamed && before.readOnly) await blocks.rename(before.name, name);
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await (block ? amend(block) : create());
      onSaved(name);
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={block ? "Settings of the block" : "New block"} isHeld={content !== ""} onClose={onClose}>
      <form
        class="plain"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field label="Name">
          <input class="input" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Field label="What it is for">
          <input class="input" value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        </Field>
        {!block && (
          <Field label="Text">
            <textarea
              class="input mono"
              rows={6}
              value={content}
              onInput={(event) => setContent(event.currentTarget.value)}
            />
          </Field>
        )}
        <div class="scope">
          <Field label="Budget in tokens">
            <input
              class="input"
              type="number"
              min="1"
              value={maxTokens}
              onInput={(event) => setMaxTokens(event.currentTarget.value)}
            />
          </Field>
          <Field label="Over the budget">
            <select
              class="input"
              value={policy}
              onChange={(event) => setPolicy(event.currentTarget.value as Block["policy"])}
            >
              {POLICIES.map(([one, words]) => (
                <option key={one} value={one}>
                  {words}
                </option>
              ))}
            </select>
          </Field>
        </div>
        <Check label="Read-only: refuse edits, renames and deletes" checked={readOnly} onChange={setReadOnly} />
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy}>
            {block ? "Save" : "Create"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

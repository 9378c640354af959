/** Records a fact. One that was retracted before stays retracted, unless the reader insists. */
import type { Fact, Session } from "holdfast/client";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Check, Field } from "../../parts/field.js";
import { Failure } from "../../parts/states.js";
import { plainText } from "../../parts/stored-text.js";

const WORDS_MAX = 80;

interface FactDialogProps {
  readonly session: Session;
  /** Facts that it may supersede. */
  readonly known: readonly Fact[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function FactDialog({ session, known, onClose, onSaved }: FactDialogProps) {
  const [category, setCategory] = useState("");
  const [content, setContent] = useState("");
  const [confidence, setConfidence] = useState("1");
  const [supersedes, setSupersedes] = useState("");
  const [pinned, setPinned] = useState(false);
  const [isRetracted, setRetracted] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async (): Promise<void> => {
    setError(undefined);
    try {
      const { outcome } = await session.facts.upsert({
        category,
        content,
        confidence: Number(confidence),
        ...(pinned && { pinned }),
        ...(supersedes !== "" && { supersedes }),
        ...(isRetracted && { force: true }),
      });
      if (outcome === "retracted") return setRetracted(true);
      onSaved();
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <Dialog title="New fact" isHeld={content !== ""} onClose={onClose}>
      <form
        class="plain"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field label="Category">
          <input
            class="input"
            required
            placeholder="for example preference"
            value={category}
            onInput={(event) => setCategory(event.currentTarget.value)}
          />
        </Field>
        <Field label="The fact, in one sentence">
          <textarea
            class="input"
            required
            rows={3}
            value={content}
            onInput={(event) => {
              setContent(event.currentTarget.value);
              setRetracted(false);
            }}
          />
        </Field>
        <div class="scope">
          <Field label="Confidence, 0 to 1">
            <input
              class="input"
              type="number"
              min="0"
              max="1"
              step="0.05"
              value={confidence}
              onInput={(event) => setConfidence(event.currentTarget.value)}
            />
          </Field>
          <Field label="Supersedes">
            <select class="input" value={supersedes} onChange={(event) => setSupersedes(event.currentTarget.value)}>
              <option value="">nothing</option>
              {known.map((fact) => (
                <option key={fact.id} value={fact.id}>
                  {plainText(fact.content, WORDS_MAX)}
                </option>
              ))}
            </select>
          </Field>
        </div>
        <Check label="Pinned: part of every context" checked={pinned} onChange={setPinned} />
        {isRetracted && (
          <p class="notice warn" role="alert">
            <span>
              <strong>This fact was retracted.</strong> It stays so, and nothing was written, unless you record it
              anyway.
            </span>
          </p>
        )}
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            {isRetracted ? "Record it anyway" : "Record"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

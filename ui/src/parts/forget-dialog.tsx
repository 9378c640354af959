/** Asks before something is forgotten, if need be by its name, and shows the receipt afterwards. */
import type { ForgetReceipt } from "holdfast/client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { Field } from "./field.js";
import { plural } from "./format.js";
import { Failure } from "./states.js";
import { StoredName, StoredText, spelled } from "./stored-text.js";

interface ForgetDialogProps {
  readonly title: string;
  /** What the button says. */
  readonly verb: string;
  /** If present, it must be typed. */
  readonly name?: string;
  readonly forget: () => Promise<ForgetReceipt>;
  readonly onClose: () => void;
  /** Called as soon as it is gone. The receipt stays until it is closed. */
  readonly onDone?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

export function ForgetDialog({ title, verb, name, forget, onClose, onDone, children }: ForgetDialogProps) {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [receipt, setReceipt] = useState<ForgetReceipt>();
  if (receipt) {
    return (
      <Dialog title="Receipt" onClose={onClose}>
        <Receipt receipt={receipt} />
        <div class="actions">
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  }
  const isNamed = name === undefined || typed === name || typed === spelled(name);
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      setReceipt(await forget());
      onDone?.();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="plain"
        onSubmit={(event) => {
          event.preventDefault();
          if (isNamed && !isBusy) void run();
        }}
      >
        {children}
        {name !== undefined && (
          <>
            <p>
              To confirm, type{" "}
              <strong>
                <StoredName text={name} max={Infinity} />
              </strong>
            </p>
            <Field label="Name">
              <input
                class="input"
                autocomplete="off"
                spellcheck={false}
                value={typed}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
            </Field>
          </>
        )}
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" disabled={!isNamed || isBusy}>
            {isBusy ? "Forgetting…" : verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const COUNTS = [
  ["items", "item"],
  ["sessions", "session"],
  ["blocks", "block"],
  ["facts", "fact"],
  ["points", "point"],
] as const;

/** What a forget removed, and what it left. */
function Receipt({ receipt }: { readonly receipt: ForgetReceipt }) {
  const removed = COUNTS.filter(([key]) => receipt[key] > 0).map(([key, noun]) => plural(receipt[key], noun));
  if (receipt.entries > 0) removed.push("the entry in the registry");
  return (
    <div class="stack receipt">
      <div>
        <h3>Removed</h3>
        <p>{removed.length === 0 ? "Nothing: it was gone already." : `${removed.join(", ")}.`}</p>
        <p class="muted">
          {receipt.purged
            ? "The bytes are gone from the file and its log; the file was checked."
            : "The bytes are not yet verified to be gone from the file. The next checkpoint removes them."}
        </p>
      </div>
      <div>
        <h3>Left</h3>
        {receipt.left.length === 0 && <p>Nothing.</p>}
        <ul>
          {receipt.left.map(({ what, why }) => (
            <li key={what}>
              <StoredText text={what} max={200} />: <span class="muted">{why}</span>
            </li>
          ))}
        </ul>
      </div>
      {receipt.missing.length > 0 && (
        <p class="muted">
          Already gone: <StoredText text={receipt.missing.join(", ")} max={400} />
        </p>
      )}
    </div>
  );
}

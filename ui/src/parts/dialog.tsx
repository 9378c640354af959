/** Dialog: a native modal dialog with a heading, and one that asks before something that cannot be undone. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.js";
import { Failure } from "./states.js";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly isHeld?: boolean;
  readonly children: ComponentChildren;
}

/** Open while it is rendered. Escape closes it, except while `isHeld`. */
export function Dialog({ title, onClose, isWide = false, isHeld = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close(); // only a dialog that is closed gives the focus back
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onClose={() => dialog.current && onClose()}
      onCancel={(event) => {
        if (isHeld) event.preventDefault();
      }}
    >
      <div class="body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** The verb on the button: "Revoke". */
  readonly action: string;
  readonly act: () => Promise<unknown>;
  /** Called when it is done, or when the user cancels. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Confirm({ title, action, act, onClose, children }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <Button onClick={onClose}>Keep</Button>
        <Button kind="danger" disabled={isBusy} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

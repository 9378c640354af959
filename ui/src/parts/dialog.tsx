/** A modal dialog, shown as long as it is rendered. While `isHeld`, Escape does not close it. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly isHeld?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, isWide = false, isHeld = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const head = useId();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={head}
      onClose={onClose}
      onCancel={(event) => {
        if (isHeld) event.preventDefault();
      }}
    >
      <div class="body">
        <h2 id={head}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

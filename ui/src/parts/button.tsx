/** Button, and a button that copies a text. */
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface ButtonProps extends ButtonHTMLAttributes {
  readonly kind?: "plain" | "primary" | "quiet" | "danger";
  readonly small?: boolean;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly children?: ComponentChildren;
}

export function Button({ kind = "plain", small = false, type = "button", children, ...rest }: ButtonProps) {
  return (
    <button {...rest} type={type} class={`button ${kind} ${small ? "small" : ""}`}>
      {children}
    </button>
  );
}

const SHOWN_MS = 1_500;

export function CopyButton({ text, label = "Copy" }: { readonly text: () => string; readonly label?: string }) {
  const [said, setSaid] = useState<string | undefined>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid("Copied");
    } catch {
      setSaid("The browser refused");
    }
  };
  return (
    <Button small onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}

/** The states that every page has besides its content: loading, empty, failed. And the head of a page. */
import { HoldfastError } from "holdfast/client";
import type { ComponentChildren } from "preact";
import type { Loaded } from "../app/loaded.js";
import { Button } from "./button.js";

export function PageHead({ title, purpose, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {purpose !== undefined && <p>{purpose}</p>}
      </div>
      {children}
    </div>
  );
}

interface PageHeadProps {
  readonly title: string;
  readonly purpose?: string;
  readonly children?: ComponentChildren;
}

export function Loading({ label }: { readonly label: string }) {
  return (
    <div class="loading" role="status">
      <span />
      <span />
      <span />
      <p class="hidden-text">Loading {label}</p>
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly retry?: () => void;
  readonly action?: string;
}

/** What went wrong, and what to do next, as the server says it. */
export function Failure({ error, retry, action = "Try again" }: FailureProps) {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof HoldfastError ? error.hint : undefined;
  return (
    <div class="notice" role="alert">
      <div class="grow">
        <strong>{sentence(message)}</strong>
        {hint !== undefined && <p>{sentence(hint)}</p>}
      </div>
      {retry && (
        <Button small onClick={retry}>
          {action}
        </Button>
      )}
    </div>
  );
}

/** An address at the beginning is left as it is. */
const sentence = (text: string): string => {
  const begun = /^https?:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return `${begun}${/[.!?]$/.test(text) ? "" : "."}`;
};

interface ShownProps<T> {
  readonly of: Loaded<T>;
  readonly label: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows what was loaded, or the state that it is in. */
export function Shown<T>({ of, label, children }: ShownProps<T>) {
  if (of.state === "loading") return <Loading label={label} />;
  if (of.state === "failed") return <Failure error={of.error} retry={of.retry} />;
  return (
    <div aria-busy={of.isLoading} class={of.isStale ? "stale" : undefined}>
      {children(of.value)}
    </div>
  );
}

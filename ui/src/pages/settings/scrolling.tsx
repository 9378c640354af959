/** A wide table that scrolls sideways on a narrow screen, also by keyboard. */
import type { ComponentChildren } from "preact";

export function Scrolling({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="table-wrap" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

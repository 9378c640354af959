/** A labelled control, a set of exclusive choices, and a check box. */
import type { ComponentChildren } from "preact";

export function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is a child
    <label class="field">
      <span class="label">{label}</span>
      {children}
    </label>
  );
}

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly choices: readonly (readonly [value: T, name: string])[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

export function Segments<T extends string>({ label, choices, value, onChoose }: SegmentsProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {choices.map(([one, name]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onChoose(one)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function Check({ label, checked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

/** Light or dark: the system's choice, unless the user has made one. It is kept in this browser. */
import { effect, signal } from "@preact/signals";

const STORED = "holdfast-theme";
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const stored = localStorage.getItem(STORED);
export const theme = signal<Theme>(THEMES.find((one) => one === stored) ?? "system");

export function startTheme(): void {
  effect(() => {
    if (theme.value === "system") {
      delete document.documentElement.dataset["theme"];
      localStorage.removeItem(STORED);
    } else {
      document.documentElement.dataset["theme"] = theme.value;
      localStorage.setItem(STORED, theme.value);
    }
  });
}

export const nextTheme = (): void => {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
};

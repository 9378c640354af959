/** The command palette: Ctrl-K or Cmd-K. A combobox whose list is filtered while one types. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { hasKey, signOut } from "./connection.js";
import { hrefTo } from "./place.js";
import { nextTheme, theme } from "./theme.js";
import { offeredViews } from "./views.js";

export const isPaletteOpen = signal(false);

interface Command {
  readonly name: string;
  readonly note: string;
  readonly run: () => void;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { route } = useLocation();
  const isOpen = isPaletteOpen.value;

  // Without delay, so that the next key goes into it.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) {
      setText("");
      setAt(0);
      dialog.current?.showModal();
    } else if (!isOpen) dialog.current?.close();
  }, [isOpen]);

  const commands = commandsFor(text, route);
  const chosen = Math.min(at, commands.length - 1);
  const run = (command: Command | undefined): void => {
    isPaletteOpen.value = false;
    command?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((chosen + step + commands.length) % commands.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(commands[chosen]);
    }
  };

  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-label="Commands"
      onClose={() => {
        isPaletteOpen.value = false;
      }}
    >
      <input
        class="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={commands.length > 0 ? `command-${chosen}` : undefined}
        aria-label="Type a command or a question"
        placeholder="Go to a page, or ask memory a question"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
          <div
            key={command.name}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(command)}
            onMouseMove={() => setAt(index)}
          >
            <span>{command.name}</span>
            <span class="muted small">{command.note}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

function commandsFor(text: string, route: (path: string) => void): readonly Command[] {
  const wanted = text.trim().toLowerCase();
  const all: readonly Command[] = [
    ...offeredViews().map(({ name, purpose, path }) => ({ name, note: purpose, run: () => route(path) })),
    { name: "Switch theme", note: `now: ${theme.value}`, run: nextTheme },
    ...(hasKey.value ? [{ name: "Forget the key", note: "in this tab", run: () => void signOut() }] : []),
  ];
  const fitting = all.filter(({ name, note }) => `${name} ${note}`.toLowerCase().includes(wanted));
  if (wanted === "") return fitting;
  const current = Object.fromEntries(new URLSearchParams(location.search));
  const { user, agent, team, session } = current;
  const ask = hrefTo("/search", { user, agent, team, session, q: text.trim() });
  return [...fitting, { name: `Search for “${text.trim()}”`, note: "Search", run: () => route(ask) }];
}

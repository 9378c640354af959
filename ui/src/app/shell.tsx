/** The frame around every page: menu, state of the connection, keys of the keyboard. */

import { useEffect, useRef, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import mark from "../design/mark.svg";
import { Button } from "../parts/button.js";
import { Field } from "../parts/field.js";
import { Empty, Failure, PageHead } from "../parts/states.js";
import { access, hasKey, isReachable, signOut, use } from "./connection.js";
import { intoView } from "./into-view.js";
import { isPaletteOpen, Palette } from "./palette.js";
import { isQuestionWanted } from "./question.js";
import { nextTheme, theme } from "./theme.js";
import { offeredViews, VIEWS } from "./views.js";

export function App() {
  const now = access.value;
  if (now.state === "asking") return <main class="gate" aria-busy="true" />;
  if (now.state === "needs-key") return <KeyGate message={now.message} />;
  if (now.state === "unreachable") {
    return (
      <main class="gate">
        <Failure error={now.error} />
      </main>
    );
  }
  return (
    <LocationProvider>
      <Frame />
    </LocationProvider>
  );
}

function Frame() {
  const { path } = useLocation();
  useShortcuts();
  const view = VIEWS.find((one) => one.path === path);
  useEffect(() => {
    document.title = view ? `${view.name} · Holdfast` : "Holdfast";
  }, [view]);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    // Another page: the keyboard and screen readers go on at its beginning, as after a load.
    if (shown.current !== path) main.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);
  return (
    <div class="shell">
      <a class="button skip" href="#main">
        Skip to the page
      </a>
      <header class="rail">
        <a class="brand" href="/">
          <img src={mark} alt="" /> Holdfast
        </a>
        <nav aria-label="Pages">
          <ul>
            {offeredViews().map(({ path: target, name, icon }) => (
              <li key={target}>
                <a
                  href={target}
                  ref={target === path ? intoView : null}
                  aria-current={target === path ? "page" : undefined}
                >
                  <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" aria-hidden="true">
                    <path d={icon} stroke-linejoin="round" stroke-linecap="round" />
                  </svg>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="foot">
          <button
            type="button"
            class="palette-open"
            onClick={() => {
              isPaletteOpen.value = true;
            }}
          >
            <span>Commands</span> <kbd>{isMac ? "⌘" : "Ctrl"} K</kbd>
          </button>
          <Button kind="quiet" small onClick={nextTheme}>
            Theme: {theme.value}
          </Button>
          {hasKey.value && (
            <Button kind="quiet" small onClick={() => void signOut()}>
              Forget the key
            </Button>
          )}
          <p class="state" role="status">
            <span class={`dot ${isReachable.value ? "live" : "lost"}`} />
            <span class="words">{isReachable.value ? "Connected" : "Server away"}</span>
          </p>
        </div>
      </header>
      <main ref={main} id="main" class="main" tabIndex={-1}>
        {!isReachable.value && (
          <p class="notice lost-bar" role="alert">
            <span>
              <strong>The server does not answer.</strong> The page shows what it read last, and goes on when the server
              is back.
            </span>
          </p>
        )}
        <Router>
          {VIEWS.map(({ path: target, page, isOffered }) => (
            <Route key={target} path={target} component={isOffered() ? page : NotOffered} />
          ))}
          <Route default component={Missing} />
        </Router>
      </main>
      <Palette />
    </div>
  );
}

const isMac = navigator.platform.startsWith("Mac");

function useShortcuts(): void {
  const { route } = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        isPaletteOpen.value = !isPaletteOpen.value;
        return;
      }
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, dialog");
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const box = document.querySelector<HTMLElement>("[data-search]");
      if (box) box.focus();
      else {
        isQuestionWanted.value = true;
        route("/search");
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [route]);
}

function KeyGate({ message }: { readonly message?: string | undefined }) {
  const [key, setKey] = useState("");
  const [isBusy, setBusy] = useState(false);
  return (
    <main class="gate">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          setBusy(true);
          void use(key.trim()).finally(() => setBusy(false));
        }}
      >
        <div class="brand">
          <img src={mark} alt="" /> Holdfast
        </div>
        <div>
          <h1>This server asks for a key</h1>
          <p class="muted">
            The key stays in this tab and goes out in a header. <code>holdfast key create</code> makes one.
          </p>
        </div>
        <Field label="API key">
          <input
            ref={takeFocus}
            class="input mono"
            type="password"
            autocomplete="off"
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        {message !== undefined && (
          <p class="notice" role="alert">
            {message}
          </p>
        )}
        <Button kind="primary" type="submit" disabled={isBusy}>
          Open
        </Button>
      </form>
    </main>
  );
}

const takeFocus = (box: HTMLElement | null): void => box?.focus();

function NotOffered() {
  return (
    <div class="page">
      <PageHead title="Not for this key" />
      <Empty title="This key does not open this page">
        <p>The page shows what concerns everyone on this server. Use an admin key.</p>
      </Empty>
    </div>
  );
}

function Missing() {
  return (
    <div class="page">
      <PageHead title="No such page" />
      <Empty title="Nothing lives at this address">
        <a class="button" href="/">
          Go to the overview
        </a>
      </Empty>
    </div>
  );
}

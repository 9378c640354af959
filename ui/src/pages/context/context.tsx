/** Context: compose a call, and see the exact text that goes into the prompt. */
import type { Context as Assembled, Scope } from "holdfast/client";
import { useRef, useState } from "preact/hooks";
import { mayWrite, memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { scopeIn, usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { ms, plural } from "../../parts/format.js";
import { Empty, Failure, PageHead, Shown } from "../../parts/states.js";
import { BudgetBar } from "./budget-bar.js";
import { Composer } from "./composer.js";
import "./context.css";
import { Left } from "./left.js";
import { optionsIn } from "./options.js";
import { Prompt } from "./prompt.js";
import { type Given, Suppressed, suppressedIn } from "./suppressed.js";

export default function Context() {
  const { params } = usePlace();
  const scope = scopeIn(params);
  return (
    <div class="page">
      <PageHead
        title="Context"
        purpose="The exact text that goes into the prompt, what it costs, and what was left out."
      />
      <div class="context-two">
        <Composer />
        {scope ? (
          <Result scope={scope} />
        ) : (
          <Empty title="Whose context?">
            <p>Name a user, an agent or a team, and a session if the text is for one conversation.</p>
          </Empty>
        )}
      </div>
    </div>
  );
}

function Result({ scope }: { readonly scope: Scope }) {
  const { params } = usePlace();
  const [given, setGiven] = useState(0);
  const changes = useChanges((event) => event.type !== "prefetched" && event.type !== "flushed");
  const key = JSON.stringify([scope, optionsIn(params)]);
  const loaded = useLoaded(
    async (signal) => {
      const session = memory.value.session(scope, { signal });
      const started = performance.now();
      const context = await session.context({ ...optionsIn(params), dryRun: true });
      const tookMs = performance.now() - started;
      const [ledger, whole] = await Promise.all([
        scope.session === undefined ? undefined : session.ledger(),
        context.tokens.saved > 0 ? session.context({ ...optionsIn(params), fresh: true, dryRun: true }) : undefined,
      ]);
      return { context, tookMs, ledger, suppressed: whole ? suppressedIn(context, whole) : [] };
    },
    [key, memory.value],
    [changes, given],
  );
  return (
    <Shown of={loaded} label="the context">
      {({ context, tookMs, ledger, suppressed }) => (
        <div class="stack">
          <BudgetBar context={context} />
          <div class="row small muted">
            <span>
              assembled in <span class="number">{ms(tookMs)}</span>
            </span>
            {context.partial && <span class="badge warn">partial</span>}
            {context.degraded !== undefined && <span class="badge warn">{context.degraded}</span>}
          </div>
          {context.tokens.total === 0 ? <Nothing saved={context.tokens.saved} /> : <Prompt context={context} />}
          {scope.session !== undefined && (
            <Window
              scope={scope}
              context={context}
              entries={ledger?.entries.length ?? 0}
              saved={ledger?.saved ?? 0}
              suppressed={suppressed}
              onDone={() => setGiven((before) => before + 1)}
            />
          )}
          <Left left={context.left} />
        </div>
      )}
    </Shown>
  );
}

function Nothing({ saved }: { readonly saved: number }) {
  return (
    <div class="card">
      <Empty title="Nothing to say">
        <p>
          {saved > 0
            ? "Everything that matters is in the model's window already."
            : "Memory holds nothing for this call. It stays silent instead of filling the room with noise."}
        </p>
      </Empty>
    </div>
  );
}

interface WindowProps {
  readonly scope: Scope;
  readonly context: Assembled;
  readonly entries: number;
  readonly saved: number;
  readonly suppressed: Given;
  readonly onDone: () => void;
}

/** The ledger: what the session's window contains, so that nothing is injected twice. */
function Window({ scope, context, entries, saved, suppressed, onDone }: WindowProps) {
  const { params } = usePlace();
  const [error, setError] = useState<unknown>();
  const isBusy = useRef(false);
  const act = (work: () => Promise<unknown>) => async (): Promise<void> => {
    if (isBusy.current) return; // the second of two clicks would record what nobody has seen
    isBusy.current = true;
    setError(undefined);
    try {
      await work();
      onDone();
    } catch (failure) {
      setError(failure);
    }
    isBusy.current = false;
  };
  const session = memory.value.session(scope);
  return (
    <section class="card" aria-labelledby="window-head">
      <header>
        <h2 id="window-head">The model's window</h2>
        {mayWrite.value && (
          <div class="row">
            <Button small disabled={entries === 0} onClick={act(() => session.windowReset())}>
              Reset
            </Button>
            <Button
              small
              disabled={context.tokens.total === 0 || params["fresh"] === "1"}
              onClick={act(() => session.context(optionsIn(params)))}
            >
              Record as given
            </Button>
          </div>
        )}
      </header>
      <p class="muted">
        {entries === 0
          ? "Nothing has been given to this session yet. What is given once is not injected again until the window is reset."
          : `${plural(entries, "item")} given so far. This call leaves out ${plural(context.tokens.saved, "token")} that the model has seen; ${plural(saved, "token")} were saved in this session.`}
      </p>
      <Suppressed items={suppressed} />
      {context.retracted.length > 0 && (
        <p>
          {plural(context.retracted.length, "item")} in the window no longer{" "}
          {context.retracted.length === 1 ? "holds" : "hold"}; the text says so.
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
    </section>
  );
}

/** Overview: what is in memory, whether it is healthy, and what happens in it right now. */
import type { MemoryStats, SessionQuery } from "holdfast/client";
import { useState } from "preact/hooks";
import { isAdmin, mayWrite, memory, namedSpaces } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { hrefTo } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { age, bytes, moment, ms, plural, short } from "../../parts/format.js";
import { Empty, Failure, PageHead, Shown } from "../../parts/states.js";
import { StoredName, StoredSpace } from "../../parts/stored-text.js";
import { Activity } from "./activity.js";
import { Growth } from "./growth.js";
import { HealthCard } from "./health-card.js";
import "./overview.css";
import { loadSample } from "./sample.js";

const NAMES_MAX = 100;
/** So many spaces of a key are read, with a call for each. */
const SPACES_MAX = 10;

export default function Overview() {
  const changes = useChanges(({ type }) => type !== "prefetched");
  const loaded = useLoaded(read, [memory.value, isAdmin.value], [changes]);
  return (
    <div class="page">
      <PageHead title="Overview" purpose="What is in memory, and whether it is healthy." />
      <Shown of={loaded} label="the overview">
        {({ stats, sessions }) =>
          stats?.store.users === 0 && stats.store.items === 0 ? (
            <FirstSteps />
          ) : (
            <div class="stack">
              {stats && <Figures of={contentsOf(stats)} />}
              {stats && <State stats={stats} />}
              {stats && <HealthCard targets={stats.targets} components={stats.health.components} />}
              <div class="overview-two">
                <Sessions sessions={sessions} />
                <Activity />
              </div>
            </div>
          )
        }
      </Shown>
    </div>
  );
}

async function read() {
  const [stats, sessions] = await Promise.all([isAdmin.value ? memory.value.stats() : undefined, newestSessions()]);
  return { stats, sessions };
}

/** A key that is no admin's lists the sessions of one space at a time. */
async function newestSessions() {
  const read = (page: SessionQuery) =>
    memory.value.sessions.list({ order: "desc", limit: NAMES_MAX, ...page }).then(({ items }) => items);
  if (isAdmin.value) return read({});
  return (await Promise.all(namedSpaces.value.slice(0, SPACES_MAX).map((space) => read({ space })))).flat();
}

type Session = Awaited<ReturnType<typeof read>>["sessions"][number];

type Figure = readonly [label: string, value: string, note?: string | undefined];

function contentsOf({ store }: MemoryStats): readonly Figure[] {
  const { kinds, blocks, users, agents, teams, sessions } = store;
  const others = [agents > 0 && plural(agents, "agent"), teams > 0 && plural(teams, "team")].filter(Boolean);
  return [
    ["Messages", short(kinds.message)],
    ["Facts", short(kinds.fact), "that hold"],
    ["Knowledge", short(kinds.knowledge)],
    ["Blocks", short(blocks), kinds.overflow > 0 ? `and ${plural(kinds.overflow, "overflow item")}` : undefined],
    ["Users", short(users), others.length > 0 ? `and ${others.join(", ")}` : undefined],
    ["Sessions", short(sessions)],
  ];
}

/** How well what is stored can be found, and what it takes. */
function State({ stats }: { readonly stats: MemoryStats }) {
  return (
    <div class="overview-state">
      <Growth />
      <Figures
        of={[
          ["Searchable by meaning", share(stats), stats.meaning ? waiting(stats) : "no model: by words only"],
          ["Write → searchable", lag(stats), "by meaning: 95 % of messages within this time"],
          ["On disk", bytes(stats.store.bytes), plural(stats.store.chunks, "vector")],
        ]}
      />
    </div>
  );
}

function Figures({ of }: { readonly of: readonly Figure[] }) {
  return (
    <dl class="totals">
      {of.map(([label, value, note]) => (
        <div key={label} class="card">
          <dt class="muted small">{label}</dt>
          <dd class="figure number">{value}</dd>
          {note !== undefined && <dd class="muted small">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

const lag = ({ latencies: { meaning } }: MemoryStats): string => (meaning.count === 0 ? "no data" : ms(meaning.p95));

function share({ store }: MemoryStats): string {
  return store.items === 0 ? "–" : `${Math.floor((100 * store.embedded) / store.items)} %`;
}

const waiting = ({ store: { pending, parked } }: MemoryStats): string =>
  [pending > 0 && `${short(pending)} waiting`, parked > 0 && `${short(parked)} parked`].filter(Boolean).join(", ") ||
  "nothing waits";

function Sessions({ sessions }: { readonly sessions: readonly Session[] }) {
  const newest = sessions.toSorted((one, other) => other.updatedAt - one.updatedAt).slice(0, 8);
  return (
    <section class="card" aria-labelledby="sessions-head">
      <header>
        <h2 id="sessions-head">Sessions</h2>
      </header>
      {newest.length === 0 && <p class="muted">No sessions yet.</p>}
      <ul class="lines">
        {newest.map((session) => (
          <li key={session.id}>
            <a href={hrefTo("/conversations", { ...session.space, session: session.name })}>
              <StoredName text={session.name} />
            </a>
            <span class="muted small">
              <StoredSpace space={session.space} />
            </span>
            <time
              class="muted small"
              dateTime={new Date(session.updatedAt).toISOString()}
              title={moment(session.updatedAt)}
            >
              {age(session.updatedAt)} ago
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}

function FirstSteps() {
  const [state, setState] = useState<"idle" | "loading" | { readonly error: unknown }>("idle");
  const load = async (): Promise<void> => {
    setState("loading");
    try {
      await loadSample(memory.value, Date.now());
    } catch (error) {
      setState({ error });
    }
  };
  return (
    <section class="card">
      <Empty title="Memory is empty">
        <p>
          Add a message with the API, the command line or an agent, and it appears here at once. Or look around first,
          with a short conversation about a move to Lisbon.
        </p>
        {mayWrite.value && (
          <Button kind="primary" disabled={state === "loading"} onClick={() => void load()}>
            {state === "loading" ? "Loading the sample…" : "Load a sample conversation"}
          </Button>
        )}
        {typeof state === "object" && <Failure error={state.error} retry={() => void load()} />}
        <pre class="first-call">{`curl '${location.origin}/api/v1/messages?user=ada' \\
  -H 'content-type: application/json' \\
  -d '{"messages":[{"role":"user","content":"I moved to Lisbon in May."}]}'`}</pre>
      </Empty>
    </section>
  );
}

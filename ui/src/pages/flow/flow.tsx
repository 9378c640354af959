/** Flow: the cache hierarchy as it is, with what each part holds, what moves between them, and why. */
import type { BufferedSessions, MemoryStats } from "holdfast/client";
import { memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { usePlace } from "../../app/place.js";
import { usePollCount } from "../../app/poll-count.js";
import { PageHead, Shown } from "../../parts/states.js";
import { Details, isPart, partOf } from "./details.js";
import "./flow.css";
import { useMovements } from "./movements.js";
import { Predictors } from "./predictors.js";
import { ReadLane } from "./read-lane.js";
import { WriteLane } from "./write-lane.js";

/** Questions cause no events. */
const EVERY_MS = 3_000;
/** Under load there are events all the time. */
const SETTLE_MS = 500;

export interface Held {
  readonly stats: MemoryStats;
  readonly sessions: BufferedSessions;
}

export default function Flow() {
  const changes = useChanges(() => true, SETTLE_MS);
  const polls = usePollCount(EVERY_MS);
  const loaded = useLoaded(read, [memory.value], [changes, polls]);
  return (
    <div class="page">
      <PageHead
        title="Flow"
        purpose="Where messages and questions are on their way. Choose a part to see what it holds."
      />
      <Shown of={loaded} label="the buffers">
        {(held) => <Diagram {...held} />}
      </Shown>
    </div>
  );
}

async function read(): Promise<Held> {
  const [stats, sessions] = await Promise.all([memory.value.stats(), memory.value.bufferedSessions()]);
  return { stats, sessions };
}

function Diagram({ stats, sessions }: Held) {
  const movements = useMovements();
  const { params } = usePlace();
  const part = isPart(params["part"]) ? params["part"] : undefined;
  const details = part !== undefined && <Details part={part} stats={stats} sessions={sessions} />;
  const isWrite = part !== undefined && partOf(part).path === "write";
  return (
    <div class="stack">
      <section class="card" aria-labelledby="write-head">
        <header>
          <h2 id="write-head">What is added</h2>
          <span class="muted small">
            {stats.meaning
              ? "An add returns when its text is in the store. What follows makes it searchable by meaning."
              : "An add returns when its text is in the store, searchable by words."}
          </span>
        </header>
        <WriteLane stats={stats} sessions={sessions} movements={movements} />
        {isWrite && details}
      </section>
      <section class="card" aria-labelledby="read-head">
        <header>
          <h2 id="read-head">What is asked</h2>
          <span class="muted small">The QueryBuffer takes the first answer that it finds, in this order.</span>
        </header>
        <ReadLane stats={stats} movements={movements} />
        {!isWrite && details}
      </section>
      <Predictors speculative={stats.speculative} />
    </div>
  );
}

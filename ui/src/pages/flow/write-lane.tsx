/** The way of a message: committed by the WriteBuffer, then embedded and written in batches. */
import type { BufferedSessions, MemoryStats } from "holdfast/client";
import { bytes, count, lasting, plural, short } from "../../parts/format.js";
import { Level, Note, Part, Wire } from "./diagram.js";
import type { Movements } from "./movements.js";

interface WriteLaneProps {
  readonly stats: MemoryStats;
  readonly sessions: BufferedSessions;
  readonly movements: Movements;
}

export function WriteLane({ stats, sessions, movements }: WriteLaneProps) {
  const { write, store, meaning } = stats;
  return (
    <div class="lane lane-write">
      <Part
        id="write"
        name="WriteBuffer"
        value={short(write.waitingWrites)}
        unit={write.waitingWrites === 1 ? "call waiting" : "calls waiting"}
        {...(write.health !== "ok" && { tone: "bad" as const })}
      >
        <Level label="Bytes" value={write.waitingBytes} max={write.maxWaitingBytes} shown={bytes} />
        <Note>{write.oldestMs === undefined ? "nothing waits" : `oldest waits ${lasting(write.oldestMs)}`}</Note>
        <Note>
          {plural(write.totalMessages, "item")} in {plural(write.totalGroups, "commit")}
        </Note>
      </Part>
      {meaning ? (
        <>
          <Wire movement={movements.added} label="durable, to embed" />
          <RoundPart round={meaning.round} sessions={sessions} />
          <Wire movement={movements.embedded} label="embed" />
          <HybridPart hybrid={meaning.hybrid} />
          <Wire movement={movements.written} label="write vectors" />
        </>
      ) : (
        <Wire movement={movements.added} label="no model: words only" />
      )}
      <Part id="store" name="Store" level="L3" value={short(store.items)} unit={store.items === 1 ? "item" : "items"}>
        {meaning && <Level label="Embedded" value={store.embedded} max={store.items} shown={short} />}
        <Note>{bytes(store.bytes)} on disk</Note>
        {store.parked > 0 && <span class="badge warn">{count(store.parked)} parked</span>}
      </Part>
      {meaning?.index && (
        <>
          <Wire label={store.unsent === 0 ? "all sent" : `${short(store.unsent)} to send`} />
          <Part
            id="index"
            name="External index"
            value={short(store.unsent)}
            unit={store.unsent === 1 ? "change to send" : "changes to send"}
            {...(meaning.index.sendError !== undefined && { tone: "bad" as const })}
          >
            <Note>{meaning.index.name}</Note>
            <Note>{meaning.index.state}</Note>
          </Part>
        </>
      )}
    </div>
  );
}

type Meaning = NonNullable<MemoryStats["meaning"]>;

function RoundPart({ round, sessions }: { readonly round: Meaning["round"]; readonly sessions: BufferedSessions }) {
  const { thresholds, oldestMs } = round;
  const fullest = (key: "rounds" | "tokens"): number =>
    sessions.items.reduce((most, { round: held }) => Math.max(most, held?.[key] ?? 0), 0);
  return (
    <Part
      id="round"
      name="RoundBuffer"
      value={short(round.sessions)}
      unit={round.sessions === 1 ? "session to embed" : "sessions to embed"}
    >
      <Level label="Rounds" value={fullest("rounds")} max={thresholds.maxSize} shown={short} />
      {thresholds.eager ? (
        <Note>eager: as soon as the embedder is free</Note>
      ) : (
        <Level label="Tokens" value={fullest("tokens")} max={thresholds.maxTokens} shown={short} />
      )}
      <Note>{oldestMs === undefined ? "nothing waits" : `oldest waits ${lasting(oldestMs)}`}</Note>
    </Part>
  );
}

function HybridPart({ hybrid }: { readonly hybrid: Meaning["hybrid"] }) {
  const { thresholds, oldestMs } = hybrid;
  return (
    <Part
      id="hybrid"
      name="HybridBuffer"
      level="L2"
      value={short(hybrid.itemCount)}
      unit={hybrid.itemCount === 1 ? "item to write" : "items to write"}
      {...(hybrid.isFull && { tone: "warn" as const })}
    >
      <span class="part-pair">
        <span class="part-inner">
          <span class="small">VectorCache</span>
          <Level label="Bytes" value={hybrid.bytes} max={thresholds.maxBytes / 2} shown={bytes} />
        </span>
        <span class="part-inner">
          <span class="small">RoundQueue</span>
          <Level label="Rounds" value={hybrid.roundCount} max={thresholds.maxSize} shown={short} />
        </span>
      </span>
      <Note>
        {oldestMs === undefined
          ? "nothing waits"
          : `oldest waits ${lasting(oldestMs)}, at most ${lasting(thresholds.forceMs)}`}
      </Note>
    </Part>
  );
}

/** The sessions that have items in a buffer. One of them can be looked into: its tokens are then counted. */
import type { BufferedSessions } from "holdfast/client";
import type { ComponentChildren } from "preact";
import { age, bytes, count, lasting, spaceName } from "../../parts/format.js";
import { StoredName, StoredSpace } from "../../parts/stored-text.js";

type Row = BufferedSessions["items"][number];

export function RoundSessions({ sessions }: { readonly sessions: BufferedSessions }) {
  const held = sessions.items.filter(({ round }) => round !== undefined);
  return (
    <Sessions
      sessions={sessions}
      held={held}
      heads={["State", "Rounds", "Tokens", "Waiting"]}
      empty="Nothing waits to be embedded."
      cells={({ round }) =>
        round && [
          round.reason === undefined ? round.state : `${round.state}: ${round.reason}`,
          round.rounds === 0 ? "–" : count(round.rounds),
          round.tokens === 0 ? "not counted" : `≤ ${count(round.tokens)}`,
          lasting(round.oldestMs),
        ]
      }
    />
  );
}

export function HybridSessions({ sessions }: { readonly sessions: BufferedSessions }) {
  const held = sessions.items.filter(({ hybrid }) => hybrid !== undefined);
  return (
    <Sessions
      sessions={sessions}
      held={held}
      heads={["Items", "Rounds", "Chunks", "Bytes", "Oldest"]}
      empty="Nothing waits to be written."
      cells={({ hybrid }) =>
        hybrid && [
          count(hybrid.items),
          count(hybrid.rounds),
          count(hybrid.chunks),
          bytes(hybrid.bytes),
          `${age(hybrid.oldestAt)} ago`,
        ]
      }
    />
  );
}

interface SessionsProps {
  readonly sessions: BufferedSessions;
  readonly held: readonly Row[];
  readonly heads: readonly string[];
  readonly empty: string;
  readonly cells: (row: Row) => readonly ComponentChildren[] | undefined;
}

function Sessions({ sessions, held, heads, empty, cells }: SessionsProps) {
  if (held.length === 0) return <p class="muted">{empty}</p>;
  return (
    <div>
      <h4>Sessions</h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard */}
      <section class="table-wrap" tabIndex={0} aria-label="Sessions in this buffer">
        <table>
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Of</th>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {held.map((row) => (
              <tr key={`${spaceName(row.space)} ${row.session ?? ""}`}>
                <td>
                  {row.session === undefined ? <span class="muted">none</span> : <StoredName text={row.session} />}
                </td>
                <td class="muted">
                  <StoredSpace space={row.space} />
                </td>
                {cells(row)?.map((cell, at) => (
                  <td key={heads[at]} class="number">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {sessions.total > sessions.items.length && (
        <p class="muted small">Of {count(sessions.total)} sessions, those that have waited longest are shown.</p>
      )}
    </div>
  );
}

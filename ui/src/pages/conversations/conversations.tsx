/** Conversations: users, agents and teams, their sessions, and what was said in each. */
import type { SpaceRef } from "holdfast/client";
import { useState } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { hrefTo, spaceIn, usePlace } from "../../app/place.js";
import { ForgetDialog } from "../../parts/forget-dialog.js";
import { Empty, PageHead } from "../../parts/states.js";
import { StoredName, StoredSpace } from "../../parts/stored-text.js";
import "./conversations.css";
import { Messages } from "./messages.js";
import { Sessions } from "./sessions.js";
import { Spaces } from "./spaces.js";

/** What is about to be forgotten: a space, or one of its sessions. */
interface Doomed {
  readonly space: SpaceRef;
  readonly session?: string;
}

export default function Conversations() {
  const { params, change } = usePlace();
  const [doomed, setDoomed] = useState<Doomed>();
  const space = spaceIn(params);
  const { session, item } = params;
  // Items outside any session are shown with those of the whole space.
  const isWhole = session === undefined && (params["all"] === "1" || item !== undefined);
  const level = space === undefined ? "spaces" : session === undefined && !isWhole ? "sessions" : "messages";
  return (
    <div class="page talks-page">
      <PageHead title="Conversations" purpose="Who said what, in every session, as it is stored.">
        {space && <Crumbs space={space} {...(session !== undefined && { session })} isWhole={isWhole} />}
      </PageHead>
      <div class={`talks at-${level}`}>
        <Spaces selected={space} onForget={(one) => setDoomed({ space: one })} />
        {space && (
          <Sessions
            key={JSON.stringify(space)}
            space={space}
            selected={session}
            isWhole={isWhole}
            onForget={(name) => setDoomed({ space, session: name })}
          />
        )}
        {space && level === "messages" ? (
          <Messages
            key={JSON.stringify([space, session])}
            space={space}
            session={session}
            item={item}
            onForget={() => setDoomed({ space, ...(session !== undefined && { session }) })}
          />
        ) : (
          <section class="card talk-messages">
            <Empty title={space ? "Which conversation?" : "Whose conversations?"}>
              <p>{space ? "Choose a session, or all items of the space." : "Choose a user, an agent or a team."}</p>
            </Empty>
          </section>
        )}
      </div>
      {doomed && (
        <ForgetSpace
          doomed={doomed}
          onClose={() => setDoomed(undefined)}
          onDone={() => {
            const gone = { session: undefined, item: undefined, all: undefined };
            if (doomed.session !== undefined) change(doomed.session === session ? gone : {});
            else change({ ...gone, user: undefined, agent: undefined, team: undefined });
          }}
        />
      )}
    </div>
  );
}

function Crumbs({ space, session, isWhole }: CrumbsProps) {
  return (
    <nav class="row crumbs" aria-label="Where you are">
      <a href={hrefTo("/conversations", { kind: `${Object.keys(space)[0]}s` })}>Everyone</a>
      <span aria-hidden="true">/</span>
      <a href={hrefTo("/conversations", { ...space })}>
        <StoredSpace space={space} />
      </a>
      {(session !== undefined || isWhole) && <span aria-hidden="true">/</span>}
      {session !== undefined && <StoredName text={session} max={60} />}
      {isWhole && <span>all items</span>}
    </nav>
  );
}

interface CrumbsProps {
  readonly space: SpaceRef;
  readonly session?: string;
  readonly isWhole: boolean;
}

interface ForgetSpaceProps {
  readonly doomed: Doomed;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ForgetSpace({ doomed: { space, session }, onClose, onDone }: ForgetSpaceProps) {
  const [kind = "user", owner = ""] = Object.entries(space)[0] ?? [];
  const isSession = session !== undefined;
  return (
    <ForgetDialog
      title={isSession ? "Forget this session" : `Forget this ${kind}`}
      verb={isSession ? "Forget the session" : `Forget the ${kind}`}
      name={session ?? owner}
      forget={() => memory.value.forget({ ...space, ...(isSession && { session }) })}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        {isSession
          ? "All its messages are removed, with what rests only on them. "
          : "Everything is removed: sessions, messages, facts, blocks and vectors. "}
        This cannot be undone.
      </p>
    </ForgetDialog>
  );
}

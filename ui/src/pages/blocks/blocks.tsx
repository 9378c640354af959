/** Blocks and facts: what agents write down about a user, an agent or a team. Two tabs, each with its own address. */
import { hrefTo, spaceIn, usePlace } from "../../app/place.js";
import { ScopeFields } from "../../parts/scope-fields.js";
import { Empty, PageHead } from "../../parts/states.js";
import { BlockList } from "./block-list.js";
import "./blocks.css";
import { Facts } from "./facts.js";

const TABS = [
  [undefined, "Blocks"],
  ["facts", "Facts"],
] as const;

export default function Blocks() {
  const { params } = usePlace();
  const space = spaceIn(params);
  const tab = params["tab"] === "facts" ? "facts" : undefined;
  return (
    <div class="page">
      <PageHead
        title="Blocks and facts"
        purpose="What agents write down: texts that they edit, and what holds since when."
      />
      <div class="card stack">
        <ScopeFields names={["user", "agent", "team"]} />
        <nav class="segments block-tabs" aria-label="Blocks or facts">
          {TABS.map(([one, name]) => (
            <a
              key={name}
              href={hrefTo("/blocks", { ...space, tab: one })}
              aria-current={one === tab ? "page" : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      </div>
      {space === undefined ? (
        <Empty title={tab === "facts" ? "Whose facts?" : "Whose blocks?"}>
          <p>Name a user, an agent or a team.</p>
        </Empty>
      ) : tab === "facts" ? (
        <Facts key={JSON.stringify(space)} space={space} />
      ) : (
        <BlockList key={JSON.stringify(space)} space={space} />
      )}
    </div>
  );
}

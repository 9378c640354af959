/** Settings: keys, the configuration in force, import and export, backup and checks. For admins. */
import type { FunctionComponent } from "preact";
import { intoView } from "../../app/into-view.js";
import { hrefTo, usePlace } from "../../app/place.js";
import { PageHead } from "../../parts/states.js";
import { Configuration } from "./configuration.js";
import { Export } from "./export.js";
import { Import } from "./import.js";
import { Keys } from "./keys.js";
import "./settings.css";
import { Upkeep } from "./upkeep.js";

const SECTIONS: readonly (readonly [id: string, name: string, section: FunctionComponent])[] = [
  ["keys", "API keys", Keys],
  ["configuration", "Configuration", Configuration],
  ["import", "Import", Import],
  ["export", "Export", Export],
  ["upkeep", "Backup and checks", Upkeep],
];

export default function Settings() {
  const { params } = usePlace();
  const [chosen, , Section] = SECTIONS.find(([id]) => id === params["section"]) ?? SECTIONS[0] ?? [];
  return (
    <div class="page">
      <PageHead title="Settings" purpose="What concerns this server and everyone on it." />
      <nav class="tabs" aria-label="Sections">
        {SECTIONS.map(([id, name]) => (
          <a
            key={id}
            href={hrefTo("/settings", { section: id })}
            ref={id === chosen ? intoView : null}
            aria-current={id === chosen ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {Section && <Section />}
    </div>
  );
}

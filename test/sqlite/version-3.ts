/** A file as the third version of Holdfast has left it, but for its words, which are indexed anew when it is opened. */
import { alter } from "../support/opened.js";
import { makeVersion2 } from "./version-2.js";

export function makeVersion3(path: string): void {
  makeVersion2(path);
  alter(path, SCRIPT);
}

const SCRIPT = `
CREATE INDEX item_name ON item (name COLLATE NOCASE, space) WHERE name IS NOT NULL;
UPDATE head SET schema = 3;
PRAGMA user_version = 3;
`;

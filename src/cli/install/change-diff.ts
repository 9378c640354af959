/** The change of a client's file as a unified diff. The API key is masked. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { Change } from "./change.js";
import { KEY_VARIABLE } from "./entry.js";

const KEY_VALUE = new RegExp(`(${KEY_VARIABLE}"?\\s*[:=]\\s*")[^"]*`, "g");

export function diffOf({ file: { path, text }, after }: Change): string {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(path, path, text, after, undefined, undefined, options).replaceAll(KEY_VALUE, "$1…");
}

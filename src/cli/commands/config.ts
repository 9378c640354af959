/** holdfast config: the options in force, and where each comes from. */
import type { ConfigOrigin, ConfigSetting } from "../../config.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { type Part, styled } from "../output/style.js";
import type { Place } from "../place.js";

export const configCommand: Definition = {
  name: "config",
  purpose: "Print every option in force, and where its value comes from.",
  about:
    "Of a file: the options with which a command would open it. Of a server (--url): those it was started with. Keys and passwords are never printed.",
  options: [flag("--changed", "only options that are set somewhere")],
  examples: [
    "holdfast config",
    "holdfast config --changed --config holdfast.yaml",
    "holdfast config --url http://127.0.0.1:8000",
  ],
  async run(call) {
    const { changed } = call.flags<{ changed?: boolean }>();
    const all = await settingsAt(call, await call.place());
    const settings = changed ? all.filter(({ origin }) => origin.from !== "default") : all;
    if (call.printer.json) return call.printer.value(settings);
    await call.printer.table([{ name: "OPTION" }, { name: "VALUE" }, { name: "FROM" }], settings.map(rowOf));
  },
};

async function settingsAt(call: Call, place: Place): Promise<readonly ConfigSetting[]> {
  if (place.kind === "file") {
    const { readConfig } = await import("../../config.js");
    const { path, config } = place;
    const given = call.flags().path === undefined ? { fallback: { path } } : { code: { path } };
    return readConfig({ file: config, env: call.io.env, ...given }).settings;
  }
  const { connect } = await import("../../client/index.js");
  const { url, key } = place;
  return connect(url, key === undefined ? {} : { key }).config();
}

function rowOf({ name, value, isSet, isSecret, origin }: ConfigSetting): readonly Part[] {
  const shown = value === undefined ? (isSet ? "(set)" : "") : String(value);
  const from = originText(origin);
  return [name, isSecret ? styled("dim", shown) : shown, origin.from === "default" ? styled("dim", from) : from];
}

function originText(origin: ConfigOrigin): string {
  switch (origin.from) {
    case "default":
      return "default";
    case "program":
      return "default of this program";
    case "code":
      return "code or flag";
    case "file":
      return `${origin.path}:${origin.line}`;
    case "environment":
      return origin.variable;
  }
}

/** Every flag changes something, and every flag is covered. */
import { type RunningServer, serve } from "holdfast/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FILE_FLAGS } from "./file-flags.js";
import { As, FLAG_CASES } from "./flag-cases.js";
import { KEY_FLAG_CASES } from "./key-flag-cases.js";
import { REGISTRY_FLAG_CASES } from "./registry-flag-cases.js";
import { leaves } from "./tree.js";

const CASES = { ...FLAG_CASES, ...KEY_FLAG_CASES, ...REGISTRY_FLAG_CASES };

it("every flag of every command has a case", () => {
  const flags = leaves.flatMap(({ name, flags }) => flags.map((flag) => `${name} ${flag}`));
  expect([...Object.keys(CASES), ...FILE_FLAGS].sort()).toEqual(flags.sort());
});

describe("the flag", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await serve({ path: ":memory:", server: { port: 0 } });
  });
  afterAll(() => server.stop());

  it.each(Object.keys(CASES))("%s changes the answer", async (flag) => {
    await CASES[flag]?.(new As(`user of ${flag}`, server.url));
  });
});

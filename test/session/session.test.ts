/** The one suite: the whole Session interface, in this process and behind a server. */
import { afterAll, beforeAll, describe } from "vitest";
import { itTellsNothingOfOthers } from "./alone.js";
import { itCarried } from "./carried.js";
import { DOORS, type Opened } from "./doors.js";
import { itItems } from "./items.js";
import { itSurvives } from "./network.js";
import { itRefuses } from "./refusals.js";
import { itRegistry } from "./registry.js";

describe.each(DOORS)("a memory %s", (_, open) => {
  let door: Opened;
  const opened = () => door;

  beforeAll(async () => {
    door = await open();
  });
  afterAll(() => door.close());

  describe("has a registry that", () => itRegistry(opened));
  describe("has sessions; one", () => itItems(opened));
  describe("has what a session carries, which", () => itCarried(opened));
});

describe.each(DOORS)("a user of a memory %s", (_, open) => itTellsNothingOfOthers(open));

describe("both memories", () => {
  let doors: readonly Opened[];

  beforeAll(async () => {
    doors = await Promise.all(DOORS.map(([, open]) => open()));
  });
  afterAll(() => Promise.all(doors.map((door) => door.close())));

  itRefuses(() => doors);
});

describe("a client", () => itSurvives());

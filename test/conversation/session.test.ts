/** A conversation on a real session: evicted turns stay in the store, can be found there, and survive. */
import { join } from "node:path";
import { openMemory, SessionConversation } from "holdfast";
import { describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";

const scope = { user: "ada", session: "monday" };
const CITIES = ["Lisbon", "Porto", "Braga", "Faro", "Évora", "Coimbra"];

describe("a conversation on a session", () => {
  it("keeps evicted turns searchable, and starts with the last ones after a restart", () =>
    inFolder(async (folder) => {
      const path = join(folder, "memory.db");
      const memory = await openMemory({ path });
      const session = memory.session(scope);
      const conversation = await SessionConversation.open(session, { maxTurns: 2 });
      expect(conversation.isEmpty).toBe(true);
      await Promise.all(
        CITIES.map((city, at) => conversation.recordTurn(at % 2 ? "assistant" : "user", `I saw ${city}.`)),
      );
      const last = "[Conversation Context]\nUser: I saw Évora.\nAssistant: I saw Coimbra.\n";
      expect(conversation.formatContext()).toBe(last);
      const [hit] = await session.query("Lisbon");
      expect(hit).toMatchObject({ role: "user", content: "I saw Lisbon.", sequence: 1 });
      await session.add([{ role: "system", content: "not a turn" }]);
      await memory.session({ ...scope, session: "tuesday" }).add([{ role: "user", content: "another conversation" }]);
      await memory.close();

      const again = await openMemory({ path });
      const reopened = await SessionConversation.open(again.session(scope), { maxTurns: 2 });
      expect(reopened.formatContext()).toBe(last);
      expect(reopened.turns).toEqual(conversation.turns);
      await again.session(scope).forget();
      await reopened.reload();
      expect(reopened.isEmpty).toBe(true);
      await again.close();
    }));
});

/** What a process does with a memory around a crash: reads all of it, searches it, and makes the calls of the books. */
import type { Memory, Session } from "holdfast";
import { type Answer, digest, LANES, messagesOf, type Operation, textOf } from "./operation.js";
import type { Found, Gone, Sought } from "./protocol.js";

const PAGE = 1000;
/** Words in one question. */
const WORDS_ASKED = 16;

/** Everything in the file, by user, in the order of arrival, page by page: also what no session should hold. */
export async function* dump(memory: Memory): AsyncGenerator<readonly Found[]> {
  for (const user of new Set(LANES.map(({ user }) => user))) {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await memory.session({ user }).list({ order: "asc", limit: PAGE, ...(cursor && { cursor }) });
      yield page.items.map(({ id, session, sequence = 0, round = 0, version, metadata, content }) => ({
        lane: LANES.findIndex((lane) => lane.user === user && lane.session === session),
        ...{ id, sequence, round, version, digest: digest(content) },
        ...{ op: Number(metadata["op"]), at: Number(metadata["at"]) },
      }));
      cursor = page.next;
    }
  }
}

/**
 * Each word must be in its item and in nothing else; what is gone must not come back by word or by id. Words of one
 * session are asked for several at a time: a question of many words finds every item that has one of them, and the up
 * to 8 neighbours of each, which do not matter here. Requires a memory without an embedder, because by meaning any item may
 * come up.
 */
export async function search(
  byWords: Memory,
  words: readonly Sought[],
  gone: readonly Gone[],
): Promise<{ readonly unfound: readonly string[]; readonly ghosts: readonly string[] }> {
  const unfound: string[] = [];
  const ghosts: string[] = [];
  for (const [lane, scope] of LANES.entries()) {
    const session = byWords.session(scope);
    const here = words.filter((sought) => sought.lane === lane);
    for (let start = 0; start < here.length; start += WORDS_ASKED) {
      const asked = here.slice(start, start + WORDS_ASKED);
      const hits = await session.query(asked.map(({ word }) => word).join(" "), { topK: 10 * WORDS_ASKED });
      const containing = hits.filter(({ content }) => asked.some(({ word }) => content.startsWith(`${word} `)));
      const ids = new Set(containing.map(({ id }) => id));
      for (const { word, id } of asked)
        if (id !== undefined && !ids.delete(id)) unfound.push(`lane ${lane} ${word} ${id}`);
      for (const id of ids) ghosts.push(`lane ${lane} ${id}, by one of its words`);
    }
    const ids = gone.filter((item) => item.lane === lane).map(({ id }) => id);
    for (const { id } of ids.length > 0 ? await session.get(ids) : []) ghosts.push(`lane ${lane} ${id}, by its id`);
  }
  return { unfound, ghosts };
}

export async function call(session: Session, operation: Operation): Promise<Answer> {
  switch (operation.kind) {
    case "add": {
      const rounds = messagesOf(operation);
      const [first] = rounds;
      const options = operation.retry === "key" ? { idempotencyKey: `key-${operation.op}` } : {};
      const added =
        rounds.length === 1 && first ? [await session.add(first, options)] : await session.addBatch(rounds, options);
      return {
        ids: added.flatMap(({ ids }) => ids),
        sequences: added.flatMap(({ sequences }) => sequences),
        repeated: added.every(({ repeated }) => repeated),
      };
    }
    case "update": {
      const content = textOf({ op: operation.op, at: 0, size: operation.size });
      return { version: await session.update(operation.id, { content }, { expectVersion: operation.version }) };
    }
    case "delete":
      return { purged: (await session.delete(operation.ids)).purged };
    case "forget":
      return { purged: (await session.forget()).purged };
  }
}

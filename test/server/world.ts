/** Somebody's memory, with something of every sort in it, made through the API. */
import type { ApiKey, SpaceKind, SpaceRef } from "holdfast";
import type { Caller, Keyed } from "./started.js";

export interface World {
  readonly user: string;
  readonly userId: string;
  readonly team: string;
  readonly agent: string;
  readonly agentId: string;
  readonly session: string;
  readonly sessionId: string;
  readonly item: string;
  readonly knowledge: string;
  readonly fact: string;
  readonly block: string;
  /** In the collection "notes", of two dimensions. */
  readonly point: string;
  /** A key that opens nothing but this user's memory; for the routes that are about keys. */
  readonly key: string;
}

const SESSION = "talk";
const BLOCK = "persona";
const POINT = "point-1";

interface Registered {
  readonly items: readonly { readonly id: string }[];
}

/** What a user has. `admin` may do all. */
export async function makeWorld(admin: Caller, name: string, marker = "plain"): Promise<World> {
  const [user, team, agent] = [name, `${name}-crew`, `${name}-bot`];
  const query = { user };
  const [{ ids }, agentEntry] = await Promise.all([
    fill(admin, { user }, marker),
    admin.data<{ id: string }>("POST /api/v1/registry/agents", { body: { name: agent, ensure: true } }),
  ]);
  const [item = ""] = ids;
  const [users, sessions, knowledge, fact, key] = await Promise.all([
    admin.data<Registered>("GET /api/v1/registry/users", { query: { name } }),
    admin.data<Registered>("GET /api/v1/registry/sessions", { query: { user, name: SESSION } }),
    admin.data<{ ids: string[] }>("POST /api/v1/items", {
      query,
      body: { items: [{ kind: "knowledge", content: `${marker} is a town.` }] },
    }),
    admin.data<{ fact: { id: string } }>("POST /api/v1/facts", {
      query,
      body: { category: "home", content: `lives in ${marker}`, pinned: true, source: { message: item } },
    }),
    makeKey(admin, { access: "read", spaces: [{ user }] }),
  ]);
  return {
    ...{ user, team, agent, session: SESSION, block: BLOCK, point: POINT, item, fact: fact.fact.id, key: key.id },
    ...{ userId: users.items[0]?.id ?? "", sessionId: sessions.items[0]?.id ?? "", agentId: agentEntry.id },
    knowledge: knowledge.ids[0] ?? "",
  };
}

/** A world in which everything that only its owner may see holds the marker. */
export async function makeMarkedWorld(admin: Caller, name: string, marker: string): Promise<World> {
  const world = await makeWorld(admin, name, marker);
  const { user, team, agent } = world;
  await fill(admin, { team }, marker);
  await fill(admin, { agent }, marker);
  for (const [kind, entry] of [["users", user] as const, ["teams", team] as const]) {
    await admin.data(`PATCH /api/v1/registry/${kind}/${entry}`, { body: { description: `about ${marker}` } });
  }
  await admin.data("POST /api/v1/registry/sessions", { body: { space: { user }, name: `about ${marker}` } });
  return world;
}

async function fill(admin: Caller, space: SpaceRef, marker: string): Promise<{ ids: string[] }> {
  const place = { ...space };
  const messages = [
    { role: "user", content: `I moved to ${marker} in May.`, metadata: { place: marker }, name: marker },
    { role: "assistant", content: `So you live in ${marker} now.` },
  ];
  const block = { name: BLOCK, content: `I am ${marker}.` };
  const [added] = await Promise.all([
    admin.data<{ ids: string[] }>("POST /api/v1/messages", {
      query: { ...place, session: SESSION },
      body: { messages },
    }),
    admin.data("POST /api/v1/blocks", { query: place, body: block }),
  ]);
  const point = { op: "store_embedding", collection: "notes", pointId: POINT, vector: [1, 0], payload: { of: marker } };
  await admin.data("POST /api/v1/turns", { query: { ...place, session: SESSION }, body: { writes: [point] } });
  const edit = { append: `\nStill ${marker}.`, reason: marker };
  await admin.data(`POST /api/v1/blocks/${BLOCK}/edits`, { query: place, body: edit });
  return added;
}

export async function makeKey(
  admin: Caller,
  key: { access: ApiKey["access"]; spaces: readonly (SpaceRef | SpaceKind)[]; expiresAt?: number },
): Promise<Keyed> {
  const made = await admin.data<{ key: { id: string }; secret: string }>("POST /api/v1/keys", { body: key });
  return { id: made.key.id, secret: made.secret };
}

/** The spaces of a world, for a key that is its owner's. */
export const spacesOf = ({ user, team, agent }: World): readonly SpaceRef[] => [{ user }, { team }, { agent }];

/** All that is in a world, as lines. The first says when it was asked for. */
export async function contentsOf(admin: Caller, world: World): Promise<string> {
  const texts: string[] = [];
  for (const space of spacesOf(world)) {
    const { text } = await admin.send("GET /api/v1/export", { query: { ...space } });
    texts.push(text.split("\n").slice(1).join("\n"));
  }
  return texts.join("\n");
}

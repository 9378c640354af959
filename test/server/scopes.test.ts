/**
 * Every route with every kind of key. The routes come from the table of operations: a new one without a sample fails
 * here. A victim's memory contains a marker that no answer to another caller may contain, and requests of others do not
 * change it.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { type Listed, OPERATIONS } from "./parts.js";
import { ask, placeOf, sampleOf } from "./requests.js";
import { SAMPLES } from "./samples.js";
import { type Caller, startWithKeys } from "./started.js";
import { contentsOf, makeKey, makeMarkedWorld, makeWorld, spacesOf, type World } from "./world.js";

const MARKER = "Xanadu7341";
/** They answer with what the key may see: nothing, in these cases. */
const QUIET: ReadonlySet<string> = new Set(["listEntries"]);

/** They register a name that is free. One that a key names is not: whoever makes the key registers it. */
const CREATES: ReadonlySet<string> = new Set(["memfuseCreateUser", "memfuseCreateAgent"]);

const SYSTEM_OPEN = ["/health", "/health/live", "/health/ready", "/openapi.json", "/docs"] as const;

let anyone: Caller;
let admin: Caller;
let victim: World;
let before: string;
/** Keys that open nothing. */
let dead: { readonly [why: string]: string };
/** Mallory's own memory and her keys. */
let mallory: World;
let stranger: Caller;
let reader: Caller;

beforeAll(async () => {
  const extractor = { name: "none", extract: async () => [] };
  ({ anyone, admin } = await startWithKeys({ extractor }));
  victim = await makeMarkedWorld(admin, "vicquux", MARKER);
  mallory = await makeWorld(admin, "malquux");
  const spaces = spacesOf(mallory);
  stranger = anyone.as((await makeKey(admin, { access: "write", spaces })).secret);
  reader = anyone.as((await makeKey(admin, { access: "read", spaces: spacesOf(victim) })).secret);
  const revoked = await makeKey(admin, { access: "admin", spaces: ["user", "agent", "team"] });
  await admin.data(`DELETE /api/v1/keys/${revoked.id}`);
  const altered = revoked.secret.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  dead = { revoked: revoked.secret, altered, unknown: `hf_0123456789abcdef_${"A".repeat(43)}`, malformed: "secret" };
  before = await contentsOf(admin, victim);
  expect(before.split(MARKER).length).toBeGreaterThan(20);
});

describe("the samples", () => {
  it("know every operation", () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(Object.keys(SAMPLES).sort()).toEqual(names.sort());
    for (const listed of OPERATIONS) {
      const { params = {}, body } = sampleOf(listed, victim);
      expect(Object.keys(params).sort(), listed.name).toEqual(Object.keys(listed.operation.params?.shape ?? {}).sort());
      expect(body !== undefined, listed.name).toBe(Boolean(listed.operation.body ?? listed.operation.media?.request));
    }
  });
});

describe.each(OPERATIONS)("$method $path ($name)", (listed: Listed) => {
  const { access, scope, status } = listed.operation;

  if (access !== "none")
    it("asks for a key that is valid", async () => {
      expect((await ask(anyone, listed, victim)).status).toBe(401);
      for (const [why, secret] of Object.entries(dead)) {
        const answer = await ask(anyone.as(secret), listed, victim);
        expect(answer.status, why).toBe(401);
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
        expect(answer.text).not.toContain(MARKER);
      }
    });

  if (access === "none")
    it("needs no key", async () => {
      expect((await ask(anyone, listed, victim)).status).toBe(status);
    });

  it("obeys the owner's key, as far as its access goes", async () => {
    const own = await makeWorld(admin, `own-${listed.name}`);
    const spaces = CREATES.has(listed.name) ? (["user", "agent"] as const) : spacesOf(own);
    const may = async (access: "read" | "write") => {
      const { secret } = await makeKey(admin, { access, spaces });
      return ask(anyone.as(secret), listed, own);
    };
    const order = ["none", "read", "write", "admin"];
    for (const held of ["read", "write"] as const) {
      const answer = await may(held);
      const isEnough = order.indexOf(held) >= order.indexOf(access);
      expect([held, answer.status, answer.text.slice(0, 300)]).toEqual([
        held,
        isEnough ? status : 403,
        expect.anything(),
      ]);
      if (isEnough) return;
    }
    expect((await ask(admin, listed, own)).status).toBe(status);
  });

  it("refuses a reader of the same memory if it writes", async () => {
    const answer = await ask(reader, listed, victim);
    if (access === "write" || access === "admin") expect(answer.status).toBe(403);
    else expect(answer.status).toBe(status);
  });

  it("reveals nothing to a stranger", async () => {
    const answer = await ask(stranger, listed, victim);
    if (QUIET.has(listed.name)) expect(answer.json?.data).toEqual({ items: [] });
    else if (listed.name === "imports") expect(answer.json?.data).toEqual({ imports: [] });
    else if (listed.name === "caller") expect(answer.json?.data).toMatchObject({ spaces: spacesOf(mallory) });
    else if (access !== "none") expect([403, 404]).toContain(answer.status);
    expect(answer.text).not.toContain(MARKER);
  });

  it("reveals nothing to a stranger who names another's things in her own scope", async () => {
    const answer = await ask(stranger, listed, victim, placeOf(mallory));
    expect(answer.status).toBeLessThan(500);
    expect(answer.text).not.toContain(MARKER);
  });

  if (scope !== "none")
    it("reveals nothing to a stranger who adds another's agent and team to her scope", async () => {
      const own = await makeWorld(admin, `eve-${listed.name}`);
      const spaces = spacesOf(own).filter((one) => !("agent" in one)); // a key that is bound to no agent
      const eve = anyone.as((await makeKey(admin, { access: "write", spaces })).secret);
      const place = { ...placeOf(own), agent: victim.agent, team: victim.team };
      for (const space of ["agent", "team"]) {
        const answer = await ask(eve, listed, own, { ...place, space });
        if (access !== "none") expect(answer.status).toBe(403);
        expect(answer.text).not.toContain(MARKER);
      }
      expect((await ask(eve, listed, own, place)).text).not.toContain(MARKER);
    });

  if (scope === "own" || scope === "optional")
    it("addresses no memory without a scope", async () => {
      const [strange, all] = [await ask(stranger, listed, victim, {}), await ask(admin, listed, victim, {})];
      if (scope === "own") expect([strange.status, all.status]).toEqual([422, 422]);
      else expect([strange.status, all.status]).toEqual([403, status]);
      expect(strange.text).not.toContain(MARKER);
    });
});

describe("what is outside the API", () => {
  it.each(SYSTEM_OPEN)("%s needs no key and reveals nothing about anybody", async (path) => {
    const response = await fetch(anyone.url + path);
    expect(response.status).toBe(200);
    expect(await response.text()).not.toMatch(/Xanadu|quux/);
  });

  it("/metrics is for admins, and contains no names", async () => {
    expect((await anyone.send("GET /metrics")).status).toBe(401);
    for (const secret of Object.values(dead)) expect((await anyone.as(secret).send("GET /metrics")).status).toBe(401);
    expect((await stranger.send("GET /metrics")).status).toBe(403);
    expect((await reader.send("GET /metrics")).status).toBe(403);
    const { status, text } = await admin.send("GET /metrics");
    expect(status).toBe(200);
    expect(text).toContain('holdfast_http_requests_total{route="POST /messages",status="201"}');
    expect(text).not.toMatch(/Xanadu|quux|hf_/);
  });
});

describe("after all that", () => {
  it("the victim's memory is what it was", async () => {
    expect(await contentsOf(admin, victim)).toBe(before);
  });
});

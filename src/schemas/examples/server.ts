/** Examples of the operations on buffers, the registry, keys, transfer and the server itself. */
import { SERIES_NAMES, type SeriesName } from "../../metrics/series.js";
import type { Examples } from "../example.js";
import type { BUFFERS } from "../operations/buffers.js";
import type { ENTRIES } from "../operations/entries.js";
import type { KEYS } from "../operations/keys.js";
import type { UPKEEP } from "../operations/upkeep.js";
import type { STREAMS } from "../streams.js";
import { AT, EXPORT, entry, IDS, key, receipt, session } from "./values.js";

/** The series of a server to which nothing happens, in two samples. */
const QUIET_SERIES = Object.fromEntries(SERIES_NAMES.map((name) => [name, [0, 0]])) as Record<SeriesName, number[]>;

export const BUFFER_EXAMPLES: Examples<typeof BUFFERS> = {
  flush: { scope: {}, data: { pending: 0, parked: 0 }, call: "const { pending, parked } = await memory.flush();" },
  buffers: { data: { round: { currentTokens: 42, roundCount: 1, messageCount: 2 } } },
  bufferedSessions: {
    scope: {},
    data: {
      items: [
        {
          space: { user: "ada" },
          session: "monday",
          round: { state: "gathering", rounds: 1, tokens: 42, oldestMs: 350 },
        },
      ],
      total: 1,
    },
    call: "const { items, total } = await memory.bufferedSessions();",
  },
  parked: {
    query: { limit: "10" },
    data: {
      items: [
        {
          space: { user: "ada" },
          session: "monday",
          id: IDS.message,
          version: 1,
          attempts: 3,
          error: "the embedding server refused the text",
          parkedAt: AT,
        },
      ],
    },
    call: "const page = await session.parked({ limit: 10 });",
  },
  replay: { body: { ids: [IDS.message] }, data: { replayed: 1 }, call: "const replayed = await session.replay($ids);" },
  stats: {
    data: {
      write: { waiting: 0 },
      query: { answers: { entries: 12 } },
      store: {
        items: 128,
        users: 3,
        agents: 1,
        teams: 0,
        sessions: 12,
        embedded: 128,
        pending: 0,
        parked: 0,
        bytes: 1_114_112,
      },
      latencies: { add: { count: 64, p50: 1.1, p95: 2.4 } },
      process: { residentBytes: 181_403_648 },
      health: { components: { write: { state: "ok" }, query: { state: "ok" } } },
      targets: [
        {
          area: "latency",
          name: "add",
          goal: { to: 5, alert: 20 },
          condition: "healthy",
          value: 2.4,
          unit: "ms (p95)",
        },
      ],
      ignoredVariables: [],
    },
    call: "const stats = await memory.stats();",
  },
  statsHistory: {
    query: { since: String(AT) },
    data: {
      everyMs: 10_000,
      at: [AT + 10_000, AT + 20_000],
      series: {
        ...QUIET_SERIES,
        addsPerSecond: [0.4, 0],
        addP50Ms: [1.1, null],
        residentBytes: [181_403_648, 181_407_744],
      },
    },
    call: "const history = await memory.statsHistory({ since: $since });",
  },
};

export const ENTRY_EXAMPLES: Examples<typeof ENTRIES> = {
  listEntries: {
    params: { kind: "users" },
    query: { limit: "20" },
    data: { items: [entry] },
    call: "const page = await memory.users.list({ limit: 20 });",
  },
  createEntry: {
    params: { kind: "users" },
    body: { name: "grace", description: "met at the bakery" },
    data: { ...entry, id: "u-Hf6dS2kWq9PzM4tC", name: "grace", description: "met at the bakery" },
    call: "const user = await memory.users.create($name, $description);",
  },
  amendEntry: {
    params: { kind: "users", name: "ada" },
    body: { retentionMs: 2_592_000_000 },
    data: { ...entry, retentionMs: 2_592_000_000 },
    call: "const user = await memory.users.retain($name, $retentionMs);",
  },
  deleteEntry: {
    params: { kind: "users", name: "ada" },
    data: { ...receipt, items: 128, sessions: 4, entries: 1, blocks: 1, facts: 9, points: 1 },
    call: "const receipt = await memory.users.delete($name);",
  },
  listSessions: {
    scope: { user: "ada" },
    query: { limit: "20" },
    data: { items: [session] },
    call: 'const page = await memory.sessions.list({ space: { user: "ada" }, limit: 20 });',
  },
  createSession: {
    body: { space: { user: "ada" }, name: "tuesday" },
    data: { ...session, id: "s-Qw8eR3tYu1IoP6aS", name: "tuesday" },
    call: "const tuesday = await memory.sessions.create($space, $name);",
  },
  renameSession: {
    body: { space: { user: "ada" }, name: "monday", to: "moving" },
    data: { ...session, name: "moving" },
    call: "const renamed = await memory.sessions.rename($space, $name, $to);",
  },
};

export const KEY_EXAMPLES: Examples<typeof KEYS> = {
  caller: {
    data: { access: "write", spaces: [{ user: "ada" }], key: { id: IDS.key, name: "phone" } },
    call: "const { access, spaces } = await memory.caller();",
  },
  listKeys: {
    query: { limit: "20" },
    data: { items: [key] },
    call: "const page = await memory.keys.list({ limit: 20 });",
  },
  createKey: {
    body: { name: "phone", access: "write", spaces: [{ user: "ada" }] },
    data: { key, secret: `hf_${IDS.key}_QyJ8sVb2kXw0Zt5nRc7mLd1pFg3hTu6eAi9oYq4xWzE` },
    call: "const { key, secret } = await memory.keys.create($body);",
  },
  revokeKey: {
    params: { id: IDS.key },
    data: { ...key, revokedAt: AT + 60_000 },
    call: "const key = await memory.keys.revoke($id);",
  },
};

const report = {
  ...{ lines: 5, entries: 0, sessions: 1, items: 1, blocks: 0, facts: 0, superseded: 0, points: 0, promotions: 0 },
  ...{ repeated: 1, conflicts: 0, skipped: 0 },
};

export const UPKEEP_EXAMPLES: Examples<typeof UPKEEP> = {
  config: {
    data: {
      settings: [
        {
          name: "server.port",
          variable: "HOLDFAST_SERVER_PORT",
          value: 9000,
          fallback: 8000,
          isSet: true,
          isSecret: false,
          origin: { from: "file", path: "holdfast.yaml", line: 3 },
        },
        {
          name: "embedding.api_key",
          variable: "HOLDFAST_EMBEDDING_API_KEY",
          isSet: true,
          isSecret: true,
          origin: { from: "environment", variable: "HOLDFAST_EMBEDDING_API_KEY" },
        },
      ],
    },
    call: "const settings = await memory.config();",
  },
  imports: { data: { imports: [{ id: "nightly", bytes: 1_048_576, ...report, lines: 2048, items: 2040 }] } },
  doctor: {
    data: [
      { type: "progress", step: "integrity", done: 6, total: 19 },
      {
        type: "report",
        path: "/var/lib/holdfast/memory.db",
        state: "ok",
        checks: [{ name: "integrity", state: "ok", what: "SQLite's quick check passed" }],
      },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
    call: "const { state, checks } = await memory.inspect();",
  },
  backup: {
    data: "(the file)",
    call: "const { name, bytes, content } = await memory.backup();\nfor await (const piece of content) console.log(piece.length);",
  },
};

export const STREAM_EXAMPLES: Examples<typeof STREAMS> = {
  export: {
    data: EXPORT,
    call: 'for await (const line of memory.export({ scope: { user: "ada", session: "monday" } })) console.log(line);',
  },
  import: {
    scope: {},
    body: EXPORT,
    data: report,
    call: "const report = await memory.import($lines);",
  },
  events: {
    scope: { user: "ada" },
    data: `id: 7\nevent: added\ndata: {"type":"added","at":${AT},"space":{"user":"ada"},"session":"monday","ids":["msg-tram"]}\n\n`,
    call: 'for await (const event of memory.events({ scope: { user: "ada" } })) {\n  console.log(event.type);\n  break;\n}',
  },
};

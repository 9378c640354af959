/** Values that several examples share: what is in the memory of one user. */

/** 4 May 2026, 9:00 UTC. */
export const AT = 1_777_885_200_000;
const SPACE = { user: "ada" } as const;
const SESSION = "monday";

export const IDS = {
  message: "msg-lisbon",
  knowledge: "note-lisbon",
  fact: "f-9Xw2kQ7LmZ0aB3cD",
  block: "persona",
  point: "lisbon",
  key: "0a1b2c3d4e5f6071",
  session: "s-Jt5vH1pQ8rNc2eYw",
  user: "u-Bq3nK9xTz6LmV0sA",
  agent: "a-Wd7gR4yPc1HjX8uE",
} as const;

export const item = {
  id: IDS.message,
  kind: "message",
  space: SPACE,
  session: SESSION,
  sessionId: IDS.session,
  sequence: 1,
  round: 1,
  role: "user",
  content: "I moved to Lisbon in May.",
  metadata: { channel: "chat" },
  tier: "episodic",
  occurredAt: AT,
  recordedAt: AT,
  updatedAt: AT,
  version: 1,
} as const;

export const added = { ids: ["msg-tram"], sequences: [2], repeated: false } as const;

export const receipt = {
  items: 1,
  sessions: 0,
  entries: 0,
  blocks: 0,
  facts: 0,
  points: 0,
  missing: [],
  purged: true,
  left: [],
} as const;

export const block = {
  id: "b-Zk2mT8wLq5XyC1nR",
  space: SPACE,
  name: IDS.block,
  content: "Ada is a baker.\nShe lives in Lisbon.",
  maxTokens: 500,
  counter: "estimate",
  policy: "manual",
  readOnly: false,
  version: 2,
  createdAt: AT,
  updatedAt: AT + 60_000,
} as const;

export const fact = {
  id: IDS.fact,
  space: SPACE,
  category: "home",
  content: "Ada lives in Lisbon.",
  confidence: 0.9,
  pinned: false,
  state: "holds",
  spans: [{ from: AT }],
  sources: [{ session: SESSION, message: IDS.message }],
  recordedAt: AT,
  updatedAt: AT,
  version: 1,
} as const;

export const point = {
  space: SPACE,
  collection: "notes",
  id: IDS.point,
  session: SESSION,
  payload: { about: "Lisbon" },
  storedAt: AT,
} as const;

export const entry = {
  id: IDS.user,
  kind: "user",
  name: "ada",
  createdAt: AT,
  updatedAt: AT,
} as const;

export const session = {
  id: IDS.session,
  name: SESSION,
  space: SPACE,
  createdAt: AT,
  updatedAt: AT,
} as const;

export const key = {
  id: IDS.key,
  name: "phone",
  access: "write",
  spaces: [{ user: "ada" }],
  createdAt: AT,
} as const;

export const hit = {
  ...item,
  score: 0.82,
  level: "store",
  scope: "in_session",
} as const;

export const context = {
  prefix: "[block persona]\n> Ada is a baker.\n> She lives in Lisbon.",
  tail: "[message 1b9d user 2026-05-04]\n> I moved to Lisbon in May.",
  tokens: { prefix: 16, tail: 20, total: 37, budget: 500, saved: 0 },
  added: [
    {
      part: "recall",
      kind: "message",
      id: IDS.message,
      space: SPACE,
      version: 1,
      text: "[message 1b9d user 2026-05-04]\n> I moved to Lisbon in May.",
      tokens: 20,
      cut: false,
    },
  ],
  changed: [],
  retracted: [],
  left: [],
  partial: false,
} as const;

/** An export of one session with one message. */
export const EXPORT = [
  { type: "holdfast", version: 1, exportedAt: AT, spaces: [SPACE], session: SESSION },
  { type: "entry", kind: "user", name: "ada" },
  { type: "session", space: SPACE, name: SESSION },
  {
    ...{ type: "item", id: IDS.message, kind: "message", space: SPACE, session: SESSION, round: 1, role: "user" },
    ...{ content: item.content, metadata: item.metadata, occurredAt: AT, recordedAt: AT, version: 1 },
  },
  {
    type: "end",
    counts: { entry: 1, session: 1, item: 1, block: 0, fact: 0, superseded: 0, point: 0, promotion: 0 },
  },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

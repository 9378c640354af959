/** A conversation of a few days, for a memory that is empty: messages, a block and facts, as an agent would leave them. */
import type { NewMessage, RemoteMemory } from "holdfast/client";

const SAMPLE_SCOPE = { user: "ada", agent: "planner", session: "moving-house" };

const DAY = 86_400_000;
const HOUR = 3_600_000;

const ROUNDS: readonly (readonly [days: number, user: string, assistant: string])[] = [
  [
    9,
    "I signed the lease today: Rua da Bica 14, third floor, Lisbon. No lift.",
    "Congratulations. Three flights without a lift: I will plan for small boxes.",
  ],
  [
    8,
    "The keys come on 2 June, and the movers can do 3 June at eight in the morning.",
    "Noted: keys on 2 June, movers on 3 June at 8:00.",
  ],
  [
    6,
    "My cello has to travel with me, not with the movers. It does not survive heat.",
    "The cello travels with you. I will look for a train with a quiet carriage.",
  ],
  [
    5,
    "Theo is allergic to cats, so we must ask whether the last tenant had one.",
    "I will ask the landlord about cats before you move in, because of Theo's allergy.",
  ],
  [
    4,
    "The landlord says the last tenant had no pets. The kitchen has no oven, though.",
    "Good news for Theo. I put a small oven on the shopping list.",
  ],
  [3, "Change of plan: the movers now come on 4 June, an hour later.", "Moved: the movers come on 4 June at 9:00."],
  [
    1,
    "I pack the books last. Anything fragile goes into the blue boxes.",
    "Books last, fragile things into the blue boxes.",
  ],
  [
    0,
    "Remind me what is still open before we leave.",
    "Open: the oven, the train for you and the cello, and the change of address.",
  ],
];

export async function loadSample(memory: RemoteMemory, now: number): Promise<void> {
  const session = memory.session(SAMPLE_SCOPE);
  const rounds = ROUNDS.map(([days, user, assistant]): readonly NewMessage[] => {
    const at = now - days * DAY - HOUR;
    return [
      { role: "user", content: user, occurredAt: at },
      { role: "assistant", content: assistant, occurredAt: at + 4_000 },
    ];
  });
  // The first round alone, so that it can be seen to arrive.
  const [first] = await session.addBatch(rounds.slice(0, 1));
  await session.addBatch(rounds.slice(1));
  const message = first?.ids[0];
  await session.blocks.create({
    name: "persona",
    description: "How to talk to Ada.",
    content: "Ada plans ahead and likes short answers.\nShe plays the cello. Her partner is Theo.",
    maxTokens: 200,
  });
  await session.blocks.edit("persona", {
    append: "They move to Lisbon in June.",
    reason: "she signed the lease",
  });
  const old = await session.facts.upsert({
    category: "move",
    content: "The movers come on 3 June at 8:00.",
    confidence: 0.9,
    ...(message !== undefined && { source: { message } }),
  });
  await session.facts.upsert({
    category: "move",
    content: "The movers come on 4 June at 9:00.",
    confidence: 0.95,
    supersedes: old.fact.id,
  });
  await session.facts.upsert({
    category: "health",
    content: "Theo is allergic to cats.",
    confidence: 1,
    pinned: true,
  });
}

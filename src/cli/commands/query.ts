/** holdfast query: search. */
import { HoldfastError } from "../../errors.js";
import type { QueryOptions } from "../../input/query.js";
import { type Hit, type Hits, KINDS, type Kind, ROLES, type Role } from "../../types.js";
import type { Call } from "../call.js";
import { DEADLINE_MS } from "../deadline.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { type MetadataFilter, moment, share, TIME_FORM, wholeNumber } from "../flag-values.js";
import { styled } from "../output/style.js";
import { textFrom } from "../stdin.js";
import { metadataFlag, shortOf, speakerOf } from "./item-lines.js";

interface QueryFlags {
  readonly limit?: number;
  readonly words?: boolean;
  readonly within?: "space" | "session" | "agent";
  readonly role?: Role;
  readonly kind?: Kind;
  readonly from?: string | number;
  readonly to?: string | number;
  readonly metadata?: MetadataFilter;
  readonly recency?: number;
  readonly sort?: "score" | "timestamp";
  readonly explain?: boolean;
  readonly full?: boolean;
}

export const queryCommand: Definition = {
  name: "query",
  alias: "search",
  args: "[text...]",
  argHelp: { text: "the question; - or nothing: read stdin" },
  purpose: "Search the memory by words and by meaning.",
  options: [
    flag("-n, --limit <n>", "maximum number of hits (default: 10)", wholeNumber),
    flag("--words", "search by words only, without loading the model"),
    choiceFlag("--within <what>", "where to search (default: space, the whole memory)", ["space", "session", "agent"]),
    choiceFlag("--role <role>", "only messages of this role", ROLES),
    choiceFlag("--kind <kind>", "only items of this kind", KINDS),
    flag("--from <time>", `only from this time on: ${TIME_FORM} ago`, moment),
    flag("--to <time>", "only before this time", moment),
    metadataFlag(),
    flag("--recency <share>", "weight of recency, 0 to 1 (default: 0)", share),
    choiceFlag("--sort <by>", "order of the hits (default: score)", ["score", "timestamp"]),
    flag("--explain", "explain each score"),
    flag("--full", "print the whole text of each hit"),
  ],
  isScoped: true,
  examples: [
    'holdfast query "where do I live?"',
    "holdfast query --user ada --session monday --within session deadline -n 3",
    'holdfast query "lisbon" --words --json | jq -r ".hits[].content"',
  ],
  async run(call) {
    const { words } = call.flags<QueryFlags>();
    const text = await textFrom(call.io, call.words, true);
    if (text.trim() === "") {
      throw new HoldfastError("invalid_input", "no question was given", {
        hint: 'for example: holdfast query "where do I live?"',
      });
    }
    if (words) await call.file("--words"); // a server always uses its model
    await call.withSession({ meaning: !words }, async (session) => {
      await print(call, await session.query(text, optionsOf(call.flags<QueryFlags>())));
    });
  },
};

function optionsOf({
  limit,
  within,
  role,
  kind,
  from,
  to,
  metadata,
  recency,
  sort,
  explain,
}: QueryFlags): QueryOptions {
  return {
    ...(limit !== undefined && { topK: limit }),
    ...(within !== undefined && { within }),
    ...(role !== undefined && { role }),
    ...(kind !== undefined && { kind }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(metadata !== undefined && { metadata }),
    ...(recency !== undefined && { recency }),
    ...(sort !== undefined && { sortBy: sort }),
    ...(explain && { explain }),
    deadlineMs: DEADLINE_MS,
  };
}

async function print(call: Call, hits: Hits): Promise<void> {
  const { printer, scope } = call;
  const { partial, degraded, explanation } = hits;
  if (printer.json) {
    const extra = { partial, ...(degraded !== undefined && { degraded }), ...(explanation && { explanation }) };
    return printer.value({ scope, hits: [...hits], ...extra });
  }
  if (hits.length === 0) printer.note("nothing found");
  else if (printer.isTerminal) for (const [at, hit] of hits.entries()) await printHit(call, hit, at + 1);
  else await printRows(call, hits);
  if (partial)
    printer.note(
      styled(
        "yellow",
        "partial: not everything could be searched by meaning in time; holdfast flush embeds what is waiting",
      ),
    );
  if (degraded !== undefined) printer.note(styled("yellow", `by words only: ${degraded}`));
  if (explanation) await printExplanation(call, hits);
}

async function printHit(call: Call, hit: Hit, rank: number): Promise<void> {
  const { printer } = call;
  const facts = [hit.score.toFixed(3), speakerOf(hit), call.time(hit.occurredAt), hit.session ?? ""];
  await printer.head(facts, hit.id, { mark: `${rank}. `, indent: 3 });
  if (call.flags<QueryFlags>().full) await printer.text(hit.content);
  else await printer.cutLine("   ", shortOf(hit.content));
}

async function printRows(call: Call, hits: Hits): Promise<void> {
  const names = ["ID", "SCORE", "WHEN", "WHO", "SESSION", "CONTENT"];
  const rows = hits.map((hit) => [
    hit.id,
    hit.score.toFixed(3),
    call.time(hit.occurredAt),
    speakerOf(hit),
    hit.session ?? "",
    hit.content,
  ]);
  await call.printer.table(
    names.map((name) => ({ name })),
    rows,
  );
}

async function printExplanation(call: Call, hits: Hits): Promise<void> {
  const { printer } = call;
  for (const { id, why } of hits) {
    if (!why) continue;
    const arms = [
      ...(why.words ? [`words ${why.words.share.toFixed(3)} (BM25 ${why.words.score.toFixed(2)})`] : []),
      ...(why.meaning ? [`meaning ${why.meaning.share.toFixed(3)} (cosine ${why.meaning.score.toFixed(3)})`] : []),
      ...(["exact", "role", "date", "session", "recency"] as const).flatMap((name) =>
        why[name] === 0 ? [] : [`${name} ${why[name].toFixed(3)}`],
      ),
    ];
    await printer.text(`${id}: ${arms.join(" + ")}`, "dim");
  }
  for (const { source, asked, why, found, ms } of hits.explanation?.sources ?? []) {
    await printer.text(
      `${source}: ${asked ? `${found} found in ${ms.toFixed(1)} ms` : `not asked, ${why ?? ""}`}`,
      "dim",
    );
  }
}

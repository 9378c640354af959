/** A process that writes to a shared graph. Arguments: the file, its number. */
import { KnowledgeGraph, openMemory } from "holdfast";
import { onOrder, report } from "../../support/child.js";
import {
  AT_ONCE,
  contested,
  noteOf,
  ownName,
  SCOPE,
  SHARED,
  type WriterOrder,
  type WriterReport,
} from "./writer-report.js";

const [, , path = "", number = ""] = process.argv;
const who = Number(number);
const memory = await openMemory({ path });
const graph = new KnowledgeGraph(memory.session(SCOPE));
const tell = (message: WriterReport): void => report(message);
const places = Array.from({ length: AT_ONCE }, (_, at) => at);

async function write(round: number): Promise<void> {
  const [entities, , ...observations] = await Promise.all([
    graph.createEntities(
      [contested(round), ownName(who, round)].map((name) => ({ name, entityType: "thing", observations: [] })),
    ),
    graph.createRelations([
      { from: ownName(who, round), to: SHARED, relationType: "writes_to" },
      { from: contested(round), to: SHARED, relationType: "is_beside" },
    ]),
    ...places.map((at) => graph.addObservations([{ entityName: SHARED, contents: [noteOf(who, round, at)] }])),
  ]);
  const created = entities.map(({ name }) => name);
  const added = observations.flatMap(([one]) => one?.addedObservations ?? []);
  tell({ say: "written", created, added });
}

onOrder<WriterOrder>(({ round }) => void write(round));
tell({ say: "ready" });

/** Looking at a file from all sides, in an upkeep thread. Makes no file, and changes nothing in one. */
import { MODEL_NAME } from "../embedding/minilm/choice.js";
import { type Database, isNotOurs, openDatabase } from "../stores/sqlite/driver.js";
import { SCHEMA_VERSION } from "../stores/sqlite/schema.js";
import {
  checkCounts,
  checkFormat,
  checkIntegrity,
  checkReferences,
  checkSchema,
  findProblems,
  schemaOf,
} from "./checks/database.js";
import { checkDisk, checkFile, checkMode, checkPlace } from "./checks/file.js";
import type { Look } from "./checks/look.js";
import { checkSpace } from "./checks/space.js";
import { checkVectors } from "./checks/vectors.js";
import { checkWords } from "./checks/words.js";
import { checkLeases, checkLog, checkParked, checkPending, checkPurge } from "./checks/work.js";
import { type Contents, readContents } from "./contents.js";
import {
  CHECKS,
  type Check,
  type CheckName,
  type Diagnosis,
  error,
  type Finding,
  ok,
  RESTORE,
  worst,
} from "./diagnosis.js";
import type { Steps } from "./progress.js";

export interface InspectJob {
  readonly path: string;
  readonly deep: boolean;
  readonly now: number;
  /** The embedding model that is configured; absent: words only. */
  readonly model?: string;
  readonly modelFolder: string;
}

export async function inspect(job: InspectJob, steps: Steps): Promise<Diagnosis> {
  const { path, model } = job;
  const notes = new Notes(steps);
  let contents: Contents | undefined;
  if (notes.add("file", () => checkFile(path)) !== "error") {
    notes.add("mode", () => checkMode(path));
    notes.add("place", () => checkPlace(path));
    notes.add("disk", () => checkDisk(path));
    contents = await inspectDatabase(job, notes);
  }
  if (contents) notes.add("space", () => checkSpace(contents.vectorSpace, contents.nextSpace, model));
  await inspectModel(job, notes);
  return { path, state: worst(notes.checks), checks: notes.checks, ...(contents && { contents }) };
}

/** Loads what belongs to the model in the package only if that is the one. */
async function inspectModel({ model, modelFolder }: InspectJob, notes: Notes): Promise<void> {
  if (model === undefined) notes.add("model", () => ok("none is configured: words only"));
  else if (model !== MODEL_NAME) notes.add("model", () => ok(`${model}, on a server, which is not asked here`));
  else {
    const { checkModel, checkRuntime } = await import("./checks/model.js");
    await notes.addLater("model", () => checkModel(modelFolder));
    await notes.addLater("runtime", checkRuntime);
  }
}

async function inspectDatabase(job: InspectJob, notes: Notes): Promise<Contents | undefined> {
  let database: Database;
  try {
    database = openDatabase(job.path, true);
  } catch (cause) {
    notes.add("format", () => error(`it cannot be opened: ${(cause as Error).message}`, CANNOT_OPEN));
    return undefined;
  }
  try {
    return inspectTables({ ...job, database }, notes);
  } finally {
    database.close();
  }
}

const CANNOT_OPEN = "make sure that this account may write to the file and to its folder";

/** One snapshot per check: together they may take long, and a snapshot keeps the log from being emptied. */
function inspectTables(look: Look, notes: Notes): Contents | undefined {
  const { database, path, deep } = look;
  if (notes.add("format", () => checkFormat(database)) === "error") return undefined;
  database.exec("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536");
  const version = schemaOf(database);
  notes.add("schema", () => checkSchema(version));
  if (version > SCHEMA_VERSION) return undefined;
  let problems = { file: [] as readonly string[], words: [] as readonly string[] };
  const integrity = notes.add("integrity", () => {
    problems = snapshot(database, () => findProblems(look));
    return checkIntegrity(problems.file, deep);
  });
  if (integrity === "error" || version < SCHEMA_VERSION) return undefined;
  const add = (name: CheckName, check: (look: Look) => Finding): void =>
    void notes.add(name, () => snapshot(database, () => check(look)));
  add("references", checkReferences);
  add("counts", checkCounts);
  add("words", () => checkWords(look, problems.words));
  add("vectors", checkVectors);
  add("log", checkLog);
  add("purge", checkPurge);
  add("leases", checkLeases);
  add("parked", checkParked);
  add("pending", checkPending);
  return snapshot(database, () => readContents(database, path));
}

function snapshot<T>(database: Database, work: () => T): T {
  database.exec("BEGIN");
  try {
    return work();
  } finally {
    if (database.isTransaction) database.exec("COMMIT");
  }
}

/** The checks so far. */
class Notes {
  readonly checks: Check[] = [];
  readonly #steps: Steps;

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  add(name: CheckName, check: () => Finding): Finding["state"] {
    this.#begin(name);
    let finding: Finding;
    try {
      finding = check();
    } catch (cause) {
      finding = failed(cause);
    }
    this.checks.push({ name, ...finding });
    return finding.state;
  }

  async addLater(name: CheckName, check: () => Promise<Finding>): Promise<void> {
    this.#begin(name);
    this.checks.push({ name, ...(await check()) });
  }

  #begin(name: CheckName): void {
    this.#steps.begin(name, CHECKS.indexOf(name), CHECKS.length);
  }
}

/** SQLite could not do what the check asked of it; anything else is a bug, and thrown. */
function failed(cause: unknown): Finding {
  if (typeof (cause as { errcode?: unknown }).errcode !== "number") throw cause;
  if (isNotOurs(cause)) return error(`the database is damaged: ${(cause as Error).message}`, RESTORE);
  return error(`SQLite could not read it: ${(cause as Error).message}`, "restore a backup if this stays so");
}

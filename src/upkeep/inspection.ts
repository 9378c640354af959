/** Runs all checks of a file, in an upkeep thread. Creates and changes no file. */
import { MODEL_NAME } from "../embedding/minilm/choice.js";
import { snapshot } from "../stores/sqlite/file/connection.js";
import { type Database, isDamaged, openDatabase, resultCode } from "../stores/sqlite/file/driver.js";
import { SCHEMA_VERSION } from "../stores/sqlite/file/schema.js";
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
  /** The configured embedding model; undefined: words only. */
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

/** Loads the code of the package's model only if that model is configured. */
async function inspectModel({ model, modelFolder }: InspectJob, notes: Notes): Promise<void> {
  if (model === undefined) notes.add("model", () => ok("none configured: search by words only"));
  else if (model !== MODEL_NAME) notes.add("model", () => ok(`${model}, on a server (not checked)`));
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

const CANNOT_OPEN = "check that this account may write to the file and its folder";

/** Takes one snapshot per check: together the checks may take long, and a snapshot keeps the log from being truncated. */
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

/** Collects the checks. */
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

/** A finding for an error of SQLite. Anything else is a bug and is thrown. */
function failed(cause: unknown): Finding {
  if (resultCode(cause) === undefined) throw cause;
  if (isDamaged(cause)) return error(`the database is damaged: ${(cause as Error).message}`, RESTORE);
  return error(`SQLite could not read it: ${(cause as Error).message}`, "if this persists, restore a backup");
}

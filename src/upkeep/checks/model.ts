/** Checks the embedding model in the package: whether its files are intact and a runtime loads. */

import { MODEL_NAME, NOT_NATIVE } from "../../embedding/minilm/choice.js";
import { MODEL_FILES, type ModelFile, readModelFile } from "../../embedding/minilm/files.js";
import { loadRuntime } from "../../embedding/minilm/network.js";
import { HoldfastError } from "../../errors.js";
import { error, type Finding, ok, warning } from "../diagnosis.js";

/** Compares checksums of the model's files. */
export async function checkModel(folder: string): Promise<Finding> {
  const problems: string[] = [];
  for (const file of Object.keys(MODEL_FILES) as ModelFile[]) {
    try {
      await readModelFile(folder, file);
    } catch (cause) {
      if (!(cause instanceof HoldfastError)) throw cause;
      problems.push(cause.message);
    }
  }
  if (problems.length === 0) return ok(`${MODEL_NAME}: checksums match`);
  return error(problems.join("; "), "reinstall holdfast: the model is part of the package, in models/");
}

export async function checkRuntime(): Promise<Finding> {
  try {
    const { runtime } = await loadRuntime(["node", "web"]);
    if (runtime === "node") return ok("onnxruntime-node");
    return warning(NOT_NATIVE.what, NOT_NATIVE.hint);
  } catch (cause) {
    if (!(cause instanceof HoldfastError)) throw cause;
    return error(cause.message, cause.hint ?? "reinstall holdfast");
  }
}

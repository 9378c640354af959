/**
 * The model's files, which ship inside the package. Different files give different kinds of vectors, so a file is used
 * only if it is, byte for byte, the one that this version was made for.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "../../errors.js";

/** The SHA-256 of every file that is loaded. */
export const MODEL_FILES = {
  "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
  "tokenizer_config.json": "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
  "onnx/model_quantized.onnx": "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
} as const;
export type ModelFile = keyof typeof MODEL_FILES;

/** The bytes of a file, verified. */
export async function readModelFile(folder: string, name: ModelFile): Promise<Buffer> {
  const bytes = await readFile(join(folder, name)).catch((cause: NodeJS.ErrnoException) => {
    throw unusable(`cannot be read (${cause.code ?? cause.message})`, name, cause);
  });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== MODEL_FILES[name]) throw unusable("is not the file that this version was made for", name);
  return bytes;
}

export async function readModelJson(folder: string, name: ModelFile): Promise<object> {
  return JSON.parse((await readModelFile(folder, name)).toString("utf8")) as object;
}

function unusable(what: string, file: ModelFile, cause?: Error): HoldfastError {
  return new HoldfastError("embedder_failed", `the model's file ${file} ${what}`, {
    hint: "install holdfast again: the model ships inside the package, in models/",
    details: { file },
    cause,
  });
}

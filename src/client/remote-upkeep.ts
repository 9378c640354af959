/** The upkeep of a server's file, for admins: doctor and backup. */
import type { Diagnosis } from "../upkeep/diagnosis.js";
import type { FileInspectOptions } from "../upkeep/file-upkeep.js";
import type { UpkeepProgress } from "../upkeep/progress.js";
import { addressOf } from "./address.js";
import { readAnswer } from "./answer.js";
import { noResponse, send, unreachable } from "./exchange.js";
import { readLines, StreamBroken } from "./text-stream.js";
import { LinkedAbort } from "./timers.js";
import type { Transport } from "./transport.js";

/** A backup that is being downloaded. */
export interface RemoteBackup {
  /** A file name for it. */
  readonly name: string;
  /** Its size. */
  readonly bytes: number;
  /** The file. Reading fails if the download ends early. */
  readonly content: ReadableStream<Uint8Array<ArrayBuffer>>;
}

type JobLine = ({ readonly type: "progress" } & UpkeepProgress) | ({ readonly type: "report" } & Diagnosis);

/** One check may take long on a large file. */
const SILENCE_FACTOR = 20;

export async function remoteInspection(
  transport: Transport,
  { deep = false, onProgress, signal }: FileInspectOptions,
): Promise<Diagnosis> {
  const reading = transport.under(signal);
  const silenceMs = reading.endpoint.timeoutMs * SILENCE_FACTOR;
  try {
    for await (const line of readLines(reading, "doctor", { query: { deep: String(deep) }, silenceMs })) {
      const { type, ...told } = JSON.parse(line) as JobLine;
      if (type === "report") return told as Diagnosis;
      onProgress?.(told as UpkeepProgress);
      signal?.throwIfAborted(); // the report may have arrived already
    }
  } catch (error) {
    throw error instanceof StreamBroken ? error.failure.error : error;
  }
  throw unreachable(transport.endpoint);
}

export async function remoteBackup(
  transport: Transport,
  { signal }: { readonly signal?: AbortSignal },
): Promise<RemoteBackup> {
  const { endpoint, signals, closing } = transport.under(signal);
  closing.throwIfAborted();
  const abort = new LinkedAbort([...signals, closing]);
  try {
    const response = await send(endpoint, addressOf("backup", {}), {}, abort);
    if (!response.ok || !response.body) {
      const outcome = await readAnswer(response, endpoint);
      throw "error" in outcome ? outcome.error : unreachable(endpoint);
    }
    const { headers, body } = response;
    const [, name = "memory.db"] = /filename="([\w.-]+)"/.exec(headers.get("content-disposition") ?? "") ?? [];
    const released = new TransformStream<Uint8Array<ArrayBuffer>>({ flush: () => abort.release() });
    const content = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(released);
    return { name, bytes: Number(headers.get("content-length")), content };
  } catch (error) {
    abort.release();
    if (error instanceof TypeError || abort.signal.aborted) throw noResponse(endpoint, abort, signals, error).error;
    throw error;
  }
}

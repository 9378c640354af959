/** Footprint: the memory of a process that runs only Holdfast, and the bytes per message on disk. */
import type { Data } from "./data.js";
import { Holdfast } from "./holdfast.js";
import { groupsOf } from "./mode.js";
import type { Workplace } from "./place.js";
import { Raw } from "./raw.js";
import { Recorder } from "./recording.js";

export interface FootprintReport {
  readonly messages: number;
  /** Resident bytes with the data loaded, with a memory open, at the peak while writing, and after. */
  readonly rss: { readonly before: number; readonly open: number; readonly peak: number; readonly after: number };
  /** Bytes of the file per message after close. */
  readonly bytesPerMessage: { readonly raw: number; readonly holdfast: number };
  readonly textBytesPerMessage: number;
}

/** Must run first: later the process also holds the recordings of the raw side. */
export async function measureFootprint(place: Workplace, data: Data, messages: number): Promise<FootprintReport> {
  const lines = data.take(0, messages);
  const groups = groupsOf("batch", lines);
  const before = process.memoryUsage.rss();
  const holdfast = await Holdfast.open(place);
  const open = process.memoryUsage.rss();
  let peak = open;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  await holdfast.run("batch", groups);
  clearInterval(timer);
  const after = process.memoryUsage.rss();
  const holdfastBytes = await holdfast.close();
  const recorder = new Recorder(place);
  const raw = new Raw(place, "same");
  raw.run(await recorder.record(groups));
  recorder.close();
  const rawBytes = raw.close();
  return {
    messages,
    rss: { before, open, peak: Math.max(peak, after), after },
    bytesPerMessage: { raw: rawBytes / messages, holdfast: holdfastBytes / messages },
    textBytesPerMessage:
      lines.reduce((sum, { message }) => sum + Buffer.byteLength(String(message.content)), 0) / messages,
  };
}

/** SQLite's write-ahead log as bytes: its frames, where they end a transaction, and frames made by hand. */

/** The log's own header, and the header in front of each page in it. */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;

export interface Frame {
  /** Where the frame begins and ends in the log. */
  readonly start: number;
  readonly end: number;
  readonly page: number;
  /** Whether the frame ends a transaction: its pages, and those of the frames before it, are committed. */
  readonly commit: boolean;
}

/** A log as it lies on disk: the frames of its current run, each with the right salt and checksum. */
export class Log {
  readonly bytes: Buffer;
  readonly pageSize: number;
  readonly frames: readonly Frame[];
  readonly #bigEndian: boolean;
  /** The checksum after the last frame, from which the next one's follows. */
  readonly #sum: Sum;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#bigEndian = (bytes.readUInt32BE(0) & 1) === 1;
    this.pageSize = bytes.readUInt32BE(8);
    const frames: Frame[] = [];
    let sum = checksum([0, 0], bytes.subarray(0, 24), this.#bigEndian);
    if (!isAt(sum, bytes, 24)) throw new Error("the log's header is damaged");
    for (let start = LOG_HEADER; start + this.frameSize <= bytes.length; start += this.frameSize) {
      const frame = bytes.subarray(start, start + this.frameSize);
      if (!frame.subarray(8, 16).equals(bytes.subarray(16, 24))) break; // a frame of an earlier run
      const next = this.#sumOf(sum, frame);
      if (!isAt(next, frame, 16)) break;
      sum = next;
      const end = start + this.frameSize;
      frames.push({ start, end, page: frame.readUInt32BE(0), commit: frame.readUInt32BE(4) > 0 });
    }
    this.#sum = sum;
    this.frames = frames;
  }

  get frameSize(): number {
    return FRAME_HEADER + this.pageSize;
  }

  /** Where the last committed transaction ends. */
  get committedEnd(): number {
    return this.frames.findLast(({ commit }) => commit)?.end ?? LOG_HEADER;
  }

  /** The log up to its last valid frame, with frames of these pages behind it: right in every respect. */
  append(pages: readonly { readonly page: number; readonly content: Buffer; readonly sizeAfter: number }[]): Buffer {
    let sum = this.#sum;
    const frames = pages.map(({ page, content, sizeAfter }) => {
      const frame = Buffer.alloc(this.frameSize);
      frame.writeUInt32BE(page, 0);
      frame.writeUInt32BE(sizeAfter, 4);
      this.bytes.copy(frame, 8, 16, 24);
      content.copy(frame, FRAME_HEADER);
      sum = this.#sumOf(sum, frame);
      frame.writeUInt32BE(sum[0], 16);
      frame.writeUInt32BE(sum[1], 20);
      return frame;
    });
    return Buffer.concat([this.bytes.subarray(0, this.frames.at(-1)?.end ?? LOG_HEADER), ...frames]);
  }

  pageOf(frame: Frame): Buffer {
    return this.bytes.subarray(frame.start + FRAME_HEADER, frame.end);
  }

  #sumOf(before: Sum, frame: Buffer): Sum {
    const header = checksum(before, frame.subarray(0, 8), this.#bigEndian);
    return checksum(header, frame.subarray(FRAME_HEADER), this.#bigEndian);
  }
}

type Sum = readonly [number, number];

const isAt = (sum: Sum, bytes: Buffer, at: number): boolean =>
  bytes.readUInt32BE(at) === sum[0] && bytes.readUInt32BE(at + 4) === sum[1];

/** The checksum of the file format's chapter 4.2, over words of 32 bits in the order that the header states. */
function checksum([one, two]: Sum, bytes: Buffer, bigEndian: boolean): Sum {
  let [first, second] = [one, two];
  for (let at = 0; at < bytes.length; at += 8) {
    const [a, b] = bigEndian
      ? [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
      : [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    first = (first + a + second) >>> 0;
    second = (second + b + first) >>> 0;
  }
  return [first, second];
}

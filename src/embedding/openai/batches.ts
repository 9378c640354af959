/**
 * Splits the texts of a call into requests with limited numbers of texts and bytes. A single text may exceed the bytes.
 */
export interface BatchLimits {
  readonly batchSize: number;
  readonly batchBytes: number;
}

export interface Batch {
  readonly texts: readonly string[];
  /** The index of its first text in the call. */
  readonly offset: number;
}

export function batchesOf(texts: readonly string[], { batchSize, batchBytes }: BatchLimits): Batch[] {
  const batches: Batch[] = [];
  let batch: string[] = [];
  let bytes = 0;
  for (const [index, text] of texts.entries()) {
    const size = Buffer.byteLength(text);
    if (batch.length > 0 && (batch.length >= batchSize || bytes + size > batchBytes)) {
      batches.push({ texts: batch, offset: index - batch.length });
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) batches.push({ texts: batch, offset: texts.length - batch.length });
  return batches;
}

export function halvesOf({ texts, offset }: Batch): [Batch, Batch] {
  const middle = texts.length >> 1;
  return [
    { texts: texts.slice(0, middle), offset },
    { texts: texts.slice(middle), offset: offset + middle },
  ];
}

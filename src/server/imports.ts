/** Imports: the imports in progress on this server, for those who sent them. */
import type { Caller } from "../calls/caller.js";
import type { ImportReport } from "../transfer/report.js";

/** An import in progress. */
export interface ImportInProgress extends ImportReport {
  readonly id: string;
  /** Bytes of the body that were read. */
  readonly bytes: number;
}

const NOTHING: ImportReport = {
  ...{ lines: 0, entries: 0, sessions: 0, items: 0, blocks: 0, facts: 0, superseded: 0, points: 0, promotions: 0 },
  ...{ repeated: 0, conflicts: 0, skipped: 0 },
};

export class Imports {
  readonly #running = new Map<string, Map<string, ImportInProgress>>();

  of(caller: Caller): readonly ImportInProgress[] {
    return [...(this.#running.get(ownerOf(caller))?.values() ?? [])];
  }

  /**
   * Runs an import, which tells its progress. Without an id it is not listed. Of two with one id the newer is listed: it is
   * a retry, whose first attempt has lost its connection and is about to end.
   */
  async during<T>(caller: Caller, id: string | undefined, work: (tell: Tell) => Promise<T>): Promise<T> {
    if (id === undefined) return work(() => {});
    const owner = ownerOf(caller);
    const own = this.#running.get(owner) ?? new Map<string, ImportInProgress>();
    this.#running.set(owner, own);
    let now: ImportInProgress = { id, bytes: 0, ...NOTHING };
    own.set(id, now);
    try {
      return await work((more) => {
        const next = { ...now, ...more };
        if (own.get(id) === now) own.set(id, next);
        now = next;
      });
    } finally {
      if (own.get(id) === now) own.delete(id);
      if (own.size === 0) this.#running.delete(owner);
    }
  }
}

type Tell = (more: Partial<ImportReport & { readonly bytes: number }>) => void;

/** Callers without a key share one list: they may all do everything. */
const ownerOf = ({ key }: Caller): string => key?.id ?? "";

/** The keyed mutex for team folders in this process, with one queue per folder or file. */
import { KeyedMutex } from "../../keyed-mutex.js";

const mutex = new KeyedMutex();

/** Runs `work` when all earlier work under this key has settled. */
export const inLine = <T>(key: string, work: () => Promise<T>): Promise<T> => mutex.run(key, work);

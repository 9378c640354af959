/** The line that all who use team folders in this process wait in: one per folder or file. */
import { OneByOne } from "../one-by-one.js";

const lines = new OneByOne();

/** Does the work when all that came before it under this key has ended, well or badly. */
export const inLine = <T>(key: string, work: () => Promise<T>): Promise<T> => lines.run(key, work);

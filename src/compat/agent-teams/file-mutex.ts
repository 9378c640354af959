/** Orders the work of this process on team folders and files: one at a time for each path. */
import { KeyedMutex } from "../../keyed-mutex.js";

export const fileMutex = new KeyedMutex();

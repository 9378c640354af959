/** The fastest kernel that this machine supports, with its own memory. */
import type { Kernel } from "./kernel.js";
import { createPlainKernel } from "./plain.js";
import { createSimdKernel } from "./simd.js";

export const createKernel = (pagesMax: number): Kernel => createSimdKernel(pagesMax) ?? createPlainKernel(pagesMax);

/** The best kernel that this machine has, with a memory of its own. */
import type { Kernel } from "./kernel.js";
import { createPlainKernel } from "./plain.js";
import { createSimdKernel } from "./simd.js";

export const createKernel = (pagesMax: number): Kernel => createSimdKernel(pagesMax) ?? createPlainKernel(pagesMax);

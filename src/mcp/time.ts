/** Times in tool input. */
import { z } from "zod";

const FORM = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/;

export const time = (description: string) =>
  z
    .string()
    .refine((text) => FORM.test(text), "write it as 2026-05-01 or 2026-05-01T09:30:00Z, with Z or an offset")
    .exactOptional()
    .meta({ description: `${description} (ISO 8601)` });

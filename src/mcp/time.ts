/** Times as models write them. */
import { z } from "zod";

export const time = (description: string) =>
  z
    .string()
    .exactOptional()
    .meta({ description: `${description} (ISO 8601)` });

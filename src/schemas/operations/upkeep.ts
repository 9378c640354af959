/** Operations on the server itself: its configuration, and the upkeep of its file. */

import { z } from "zod";
import { operation } from "../operation.js";
import { ROUTES } from "../routes.js";

const value = z.union([z.string(), z.number(), z.boolean()]);

const whole = z.number().int();

const OriginSchema = z
  .object({
    from: z
      .enum(["default", "program", "file", "environment", "code"])
      .meta({ description: "code: an argument in code, or a flag of the command line." }),
    path: z.string().exactOptional().meta({ description: "The YAML file." }),
    line: z.number().int().exactOptional(),
    variable: z.string().exactOptional().meta({ description: "The environment variable." }),
  })
  .meta({ id: "ConfigOrigin", description: "Where the value of an option comes from." });

const SettingSchema = z
  .object({
    name: z.string().meta({ description: "Its key in the YAML file." }),
    variable: z.string().exactOptional().meta({ description: "The environment variable that sets it." }),
    value: value
      .exactOptional()
      .meta({ description: "Absent if it has none or is a secret. An address comes without credentials." }),
    fallback: value.exactOptional().meta({ description: "The value if nothing sets it." }),
    isSet: z.boolean(),
    isSecret: z.boolean().meta({ description: "True if the value is never shown." }),
    origin: OriginSchema,
  })
  .meta({ id: "ConfigSetting" });

export const UPKEEP = {
  config: operation({
    ...ROUTES.config,
    tag: "Operation",
    summary: "Get every option in force, and where its value comes from. Secrets are never shown.",
    access: "admin",
    scope: "none",
    data: z.object({ settings: z.array(SettingSchema) }),
    status: 200,
  }),
  imports: operation({
    ...ROUTES.imports,
    tag: "Transfer",
    summary: "List the imports in progress that this key has given an id, with what they have read and written so far.",
    access: "write",
    scope: "none",
    data: z.object({
      imports: z.array(
        z.looseObject({ id: z.string(), bytes: whole, lines: whole, items: whole }).meta({ id: "ImportInProgress" }),
      ),
    }),
    status: 200,
  }),
  doctor: operation({
    ...ROUTES.doctor,
    tag: "Operation",
    summary: "Check the file and the model. Changes nothing.",
    description:
      "Lines of type progress (`step`, `done`, `total`) while it runs. The last line has type report: `state` and `checks`, each with `name`, `state`, `what` was found, and what `todo`.",
    access: "admin",
    scope: "none",
    query: z.strictObject({
      deep: z
        .stringbool({ truthy: ["true"], falsy: ["false"] })
        .exactOptional()
        .meta({ description: "true: check everything; slower." }),
    }),
    data: z.looseObject({ type: z.enum(["progress", "report"]) }),
    status: 200,
    media: { response: "application/x-ndjson" },
  }),
  backup: operation({
    ...ROUTES.backup,
    tag: "Operation",
    summary: "Download a consistent, checked copy of the file, which stays in use.",
    description:
      "The response begins when the copy is complete. It needs as much room beside the file until then. The copy contains everything, also what no export has: hashes of API keys, vectors, the search index.",
    access: "admin",
    scope: "none",
    data: z.unknown(),
    status: 200,
    media: { response: "application/vnd.sqlite3" },
  }),
} as const;

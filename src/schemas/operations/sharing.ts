/** Operations for sharing with other spaces. */

import { z } from "zod";
import { operation } from "../operation.js";
import { PromoteSchema, PromotionPageSchema } from "../report.js";
import { ROUTES } from "../routes.js";
import { PageFields } from "../scope.js";

const page = z.strictObject(PageFields);

export const SHARING = {
  promote: operation({
    ...ROUTES.promote,
    tag: "Sharing",
    summary: "Copy items into another space for others to read, and log it there.",
    access: "write",
    scope: "own",
    body: PromoteSchema,
    data: z.object({ ids: z.array(z.string()) }),
    status: 201,
  }),
  promotions: operation({
    ...ROUTES.promotions,
    tag: "Sharing",
    summary: "List promotions into this space, newest first.",
    access: "read",
    scope: "own",
    query: page,
    data: PromotionPageSchema,
    status: 200,
  }),
} as const;

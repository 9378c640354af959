/** Operations on points, which turns store. */

import { z } from "zod";
import { ReceiptSchema } from "../item.js";
import { operation } from "../operation.js";
import {
  PointHitSchema,
  PointIdsSchema,
  PointListSchema,
  PointPageSchema,
  PointSchema,
  PointSearchSchema,
} from "../point.js";
import { ROUTES } from "../routes.js";

export const POINTS = {
  searchPoints: operation({
    ...ROUTES.searchPoints,
    tag: "Points",
    summary: "Find the points of a collection that are nearest to a vector, best first.",
    access: "read",
    scope: "own",
    body: PointSearchSchema,
    data: z.array(PointHitSchema),
    status: 200,
  }),
  getPoints: operation({
    ...ROUTES.getPoints,
    tag: "Points",
    summary: "Get points by id, in the given order; missing ones are omitted.",
    access: "read",
    scope: "own",
    body: PointIdsSchema,
    data: z.array(PointSchema),
    status: 200,
  }),
  listPoints: operation({
    ...ROUTES.listPoints,
    tag: "Points",
    summary: "List the points of a collection in the order in which they were first stored.",
    access: "read",
    scope: "own",
    body: PointListSchema,
    data: PointPageSchema,
    status: 200,
  }),
  deletePoints: operation({
    ...ROUTES.deletePoints,
    tag: "Points",
    summary: "Forget points by id.",
    access: "write",
    scope: "own",
    body: PointIdsSchema,
    data: ReceiptSchema,
    status: 200,
  }),
} as const;

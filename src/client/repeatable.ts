/**
 * Which operations may be done twice, so that a call whose answer got lost is repeated.
 *
 * Reads may. So may adds, which carry an idempotency key. Of the other writes only those whose second time changes nothing
 * and answers the same: a flush, the revocation of a key, the registration of a name that may be taken, a turn without
 * edits of blocks (its messages have ids, its facts are recorded once). Not so:
 * - an edit: an append would be there twice, and one with `expectVersion` would report its own success as a conflict;
 * - a delete, a forget, a promotion, an upsert: the second answer is not the first ("missing", "unchanged");
 * - `context`: what was given in the lost answer would stand in the ledger, and never in the window.
 */
import { ROUTES } from "../schemas/routes.js";
import type { RouteName } from "./address.js";

/** Reads by POST, because what they ask for does not fit into a URL; and writes that may be done twice. */
const HARMLESS: ReadonlySet<RouteName> = new Set<RouteName>([
  "get",
  "list",
  "query",
  "previewContext",
  "getFacts",
  "listFacts",
  "queryFacts",
  "flush",
  "revokeKey",
]);

/** They answer when work is done, which may take its time: embedding, extracting, purging bytes. */
const PATIENT: ReadonlySet<RouteName> = new Set<RouteName>([
  "flush",
  "extractFacts",
  "delete",
  "forget",
  "deleteBlock",
  "deleteEntry",
]);

export const isRepeatable = (name: RouteName): boolean => ROUTES[name].startsWith("GET ") || HARMLESS.has(name);

export const isPatient = (name: RouteName): boolean => PATIENT.has(name);

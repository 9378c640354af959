/**
 * The dashboard: a single-page app that the build leaves in dist/ui. Its files are read once. Every view has a URL of its
 * own, so a browser that asks for a page gets the app wherever no other route answers; API clients ask for JSON.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context, Hono } from "hono";
import { HoldfastError } from "../errors.js";
import { packageFile } from "../package-files.js";
import type { AdmissionControl } from "./admission-control.js";
import { failure } from "./answer.js";
import { senderOf } from "./attend.js";

/** Everything comes from this server, and nothing inline runs, in case text in the page is hostile. */
export const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const ASSETS = "/assets/";

const TYPES: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const SAFE = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
/** The names of assets contain a hash of their content. */
const ASSET_HEADERS = { ...SAFE, "cache-control": "public, max-age=31536000, immutable" };
const PAGE_HEADERS = {
  ...SAFE,
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": DASHBOARD_POLICY,
  vary: "Accept",
};

export class Dashboard {
  readonly #admission: AdmissionControl;
  readonly #page: string;
  readonly #assets: ReadonlyMap<string, { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string }>;

  constructor(admission: AdmissionControl, folder = pathToFileURL(packageFile("dist/ui/"))) {
    this.#admission = admission;
    this.#page = readFileSync(new URL("index.html", folder), "utf8");
    const assets = new URL(`.${ASSETS}`, folder);
    this.#assets = new Map(
      readdirSync(assets).flatMap((name) => {
        const type = TYPES[extname(name)];
        return type === undefined ? [] : [[name, { bytes: new Uint8Array(readFileSync(new URL(name, assets))), type }]];
      }),
    );
  }

  addRoutes(app: Hono): void {
    app.get(`${ASSETS}:name`, (c) => {
      const asset = this.#assets.get(c.req.param("name"));
      if (!asset) return failure(new HoldfastError("not_found", "no such file; reload the page"));
      return this.#guarded(
        c,
        () => new Response(asset.bytes, { headers: { ...ASSET_HEADERS, "content-type": asset.type } }),
      );
    });
  }

  /** The app. It decides by the URL which view to show. */
  answer(c: Context): Response {
    return this.#guarded(c, () => new Response(this.#page, { headers: PAGE_HEADERS }));
  }

  #guarded(c: Context, make: () => Response): Response {
    try {
      this.#admission.checkOrigin(senderOf(c));
      return make();
    } catch (error) {
      return failure(error);
    }
  }
}

/** Whether the request is a browser's for a page: not for the API, and it accepts HTML before JSON. */
export function isForBrowser({ req }: Context): boolean {
  if (req.method !== "GET" && req.method !== "HEAD") return false;
  if (/^\/(api|mcp|assets)(\/|$)/.test(req.path)) return false;
  const accepted = (req.header("accept") ?? "").toLowerCase();
  const [html, json] = [accepted.indexOf("text/html"), accepted.indexOf("application/json")];
  return html >= 0 && (json < 0 || html < json);
}

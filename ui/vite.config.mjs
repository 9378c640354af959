// Builds the dashboard into dist/ui. `npm run dev:ui` serves it with reload, and passes calls on to a running Holdfast.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const from = (path) => fileURLToPath(new URL(path, import.meta.url));
const holdfast = process.env.HOLDFAST_URL ?? "http://127.0.0.1:8000";
// The server refuses other origins, so it must see its own.
const proxied = { target: holdfast, changeOrigin: true, headers: { origin: holdfast } };

export default defineConfig({
  root: from("."),
  base: "/",
  publicDir: false,
  resolve: { alias: [{ find: /^holdfast\/client$/, replacement: from("../src/client/index.ts") }] },
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: { "/api": proxied, "/openapi.json": proxied, "/health": proxied },
  },
  build: {
    outDir: from("../dist/ui"),
    emptyOutDir: true,
    target: "es2022",
    // A data: URL in the page would need an exception in its policy.
    assetsInlineLimit: 0,
    // A stylesheet that could not be loaded is not asked for again; the script of a page is.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
});

// The site is README.md and docs/ as they are: scripts/docs.mjs copies them to pages/ and derives the sidebar.
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import sidebar from "../pages/sidebar.json" with { type: "json" };
import { slug } from "./slug.mjs";

const mark = readFileSync(new URL("../../ui/src/design/mark.svg", import.meta.url), "utf8");

export default defineConfig({
  srcDir: "pages",
  outDir: "dist",
  title: "Holdfast",
  description: "Memory for AI agents: durable and searchable when the call returns. One file, no key, no server.",
  // Generics and placeholders in the text are text, not components.
  markdown: { html: false, anchor: { slugify: slug } },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `data:image/svg+xml,${encodeURIComponent(mark)}` }]],
  themeConfig: {
    search: { provider: "local" },
    sidebar,
    outline: [2, 3],
    externalLinkIcon: true,
  },
});

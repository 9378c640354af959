// Builds the documentation as a static, searchable site in website/dist, from README.md, docs/ and examples/ as they are.
// The site generator is a private package in website/ with its own lock, so that nobody else has to install it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const website = join(root, "website");
const pages = join(website, "pages");

const AT_ROOT = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"];
const within = (folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
const sources = ["README.md", ...AT_ROOT, ...within("docs"), ...within("examples")];

rmSync(pages, { recursive: true, force: true });
for (const source of sources) {
  const page = join(pages, pageOf(source));
  mkdirSync(dirname(page), { recursive: true });
  if (page.endsWith(".md")) writeFileSync(page, textOf(source));
  else cpSync(join(root, source), page);
}
writeFileSync(join(pages, "sidebar.json"), JSON.stringify(sidebar(), undefined, 2));
installOnce();
const vitepress = join(website, "node_modules/vitepress/bin/vitepress.js");
execFileSync(process.execPath, [vitepress, "build", website], { stdio: "inherit" });
console.log(
  "The site is in website/dist. To look at it: npx --prefix website vitepress preview website --host 127.0.0.1",
);

/** Where a file of the project is in the site: README.md is the first page of its folder, docs/ the root. */
function pageOf(source) {
  if (AT_ROOT.includes(source)) return `project/${source.replace(/\.md$/, "").toLowerCase()}.md`;
  return source
    .replace(/^docs\//, "")
    .replace(/README\.md$/, "index.md")
    .replace(/\.mjs$/, ".md");
}

/** The page's text, with links that lead to the pages of the site. A program and the licence become pages, too. */
function textOf(source) {
  const text = readFileSync(join(root, source), "utf8");
  if (source === "LICENSE") return `# Licence\n\n${text}`;
  if (source.endsWith(".mjs")) return `# ${source.replace("examples/", "")}\n\n\`\`\`js\n${text}\`\`\`\n`;
  const here = dirname(pageOf(source));
  return text
    .replaceAll(/^<!-- .* -->\n/gm, "")
    .replaceAll(/\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (_, target, anchor = "") => {
      const page = pageOf(relative(root, resolve(root, dirname(source), target)));
      return `](./${relative(here, page)}${anchor})`;
    });
}

/** The table of links at the end of the README, as groups of the sidebar. */
function sidebar() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, table = ""] = readme.split("## Documentation");
  const groups = [...table.matchAll(/^\| (\w+) \| (.*) \|$/gm)].map(([, text, links]) => ({
    text,
    items: [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name, target]) => ({
      text: name,
      link: `/${pageOf(target).replace(/(index)?\.md$/, "")}`,
    })),
  }));
  if (groups.length === 0) throw new Error("the README has no table of links under Documentation");
  return groups;
}

/** Installs the locked site generator, unless this lock is installed. */
function installOnce() {
  const digest = createHash("sha256")
    .update(readFileSync(join(website, "package-lock.json")))
    .digest("hex");
  const stamp = join(website, "node_modules/.lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  console.log("Installing the site generator…");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: website, stdio: "inherit" });
  writeFileSync(stamp, digest);
}

// Copies into dist/ the declarations that the public ones refer to, out of those of all modules in build/lib.
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export function copyDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const waiting = Object.values(exports).flatMap(({ types }) =>
    types === undefined ? [] : [types.slice("./dist/".length)],
  );
  const copied = new Set();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (copied.has(path)) continue;
    copied.add(path);
    const from = join(root, "build/lib", path);
    const to = join(root, "dist", path);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to);
    for (const [, target] of readFileSync(from, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g))
      waiting.push(join(dirname(path), `${target}.d.ts`));
  }
}

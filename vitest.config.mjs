import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const dist = (path) => fileURLToPath(new URL(`./dist/${path}`, import.meta.url));

/** A project whose tests run compiled against the compiled package, with its real threads and real child processes. */
const compiled = (test) => ({
  extends: true,
  resolve: {
    alias: [
      { find: /^holdfast$/, replacement: dist("index.js") },
      { find: /^holdfast\/stores$/, replacement: dist("stores/index.js") },
      { find: /^holdfast\/embedding$/, replacement: dist("embedding/index.js") },
      { find: /^holdfast\/qdrant$/, replacement: dist("stores/qdrant/index.js") },
      { find: /^holdfast\/client$/, replacement: dist("client/index.js") },
      { find: /^holdfast\/anthropic$/, replacement: dist("compat/anthropic/index.js") },
      { find: /^holdfast\/server$/, replacement: dist("server/index.js") },
      { find: /^holdfast\/testing$/, replacement: dist("testing/index.js") },
    ],
  },
  test: {
    // The package is loaded by Node itself, as it is shipped, which takes half the time.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ["build/test/support/setup.js", "build/test/support/fresh.js"],
    ...test,
  },
});

// `unit` runs the tests beside the source from the source; the others run the compiled tests against the compiled package:
// what ships is what is tested. What takes least and fails most often comes first: `house` and `unit`, then `suites`. `browser` needs
// a browser, so `npm run test:ui` runs it.
export default defineConfig({
  test: {
    pool: "forks",
    // Many tests wait for a disk or a child: two at a time take two thirds of the time on two cores.
    maxWorkers: 2,
    // Test files share two processes: loading the source, or the package, for each took longer than many tests.
    isolate: false,
    reporters: ["default", "./test/support/failures.ts"],
    // A net for hangs, long enough for a machine ten times slower.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts"], setupFiles: ["test/support/setup.ts"] } },
      compiled({ name: "house", include: ["build/test/house/**/*.test.js"] }),
      compiled({
        name: "suites",
        include: ["build/test/**/*.test.js"],
        exclude: ["build/test/house/**", "build/test/ui/**"],
        sequence: { groupOrder: 1 },
      }),
      compiled({ name: "browser", include: ["build/test/ui/**/*.test.js"], sequence: { groupOrder: 2 } }),
    ],
  },
});

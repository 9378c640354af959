/** The end of a red run: which tests failed, the seed of the run, and the command that runs just them. */
import { relative } from "node:path";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";
import { runSeed } from "./random.js";

/** With more tests than this the command names their files alone. */
const NAMED_MAX = 5;

/** What this run was given, beside its seed, such as how many kills: with less of it a failure may not show again. */
const GIVEN = /^HOLDFAST_TEST_(?!SEED$)/;

export default class Failures implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests("failed")]);
    // A file that could not be loaded, or whose hooks failed, has no failed test.
    const broken = modules.filter(
      (module) => module.state() === "failed" && !tests.some((test) => test.module === module),
    );
    if (tests.length === 0 && broken.length === 0 && errors.length === 0) return;

    const lines = ["", "What failed:"];
    for (const test of tests) lines.push(`  ${fileOf(test.module)} › ${test.fullName}`);
    for (const module of broken) lines.push(`  ${fileOf(module)} (the file itself)`);
    for (const error of errors) lines.push(`  outside of a test: ${error.name}: ${error.message.split("\n")[0]}`);
    lines.push(`The seed: ${runSeed()}`);
    const failed = new Set([...tests.map((test) => test.module), ...broken]);
    if (failed.size > 0) lines.push("Just these again:", `  ${command(failed, broken.length > 0 ? [] : tests)}`);
    console.log(lines.join("\n"));
  }
}

function fileOf(module: TestModule): string {
  return relative(process.cwd(), module.moduleId);
}

function command(modules: ReadonlySet<TestModule>, tests: readonly TestCase[]): string {
  const files = [...modules].map(fileOf).join(" ");
  const names = tests.map(({ fullName }) => escaped(fullName.replaceAll(" > ", " ")));
  const named = names.length > 0 && names.length <= NAMED_MAX ? ` -t ${quoted(`^(${names.join("|")})$`)}` : "";
  const given = Object.entries(process.env).filter(([name]) => GIVEN.test(name));
  const variables = given.map(([name, value]) => `${name}=${quoted(value ?? "")} `).join("");
  return `HOLDFAST_TEST_SEED=${runSeed()} ${variables}${vitest()} run ${files}${named}`;
}

/** vitest on the Node of this run, which `npm run test:node24` has brought with it. */
function vitest(): string {
  const node = relative(process.cwd(), process.execPath);
  return node.startsWith("node_modules") ? `${node} node_modules/vitest/vitest.mjs` : "npx vitest";
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** For a shell. */
const quoted = (text: string): string => (/^[\w.]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

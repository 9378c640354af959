/**
 * Every public name, with its methods and fields, has a doc comment: it is what an editor shows to whoever uses it.
 *
 * Checked are the names that the package's entry points export, starting from the source. Left out are fields whose type is a
 * single literal (`type: "added"`), members of an object type within a union (the comment on the variant covers them), what a
 * class takes over from a documented interface, and what other packages declare. The contracts for writing another store, and
 * the suites that test one, are documented in their files' heads; for these two entry points the number may only fall.
 */
import { join } from "node:path";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import { isClassDeclaration } from "typescript/unstable/ast/is";
import { API, type Checker, type Symbol as Name, type Project, SymbolFlags, type Type } from "typescript/unstable/sync";
import { afterAll, expect, it } from "vitest";
import { root } from "../support/root.js";

const ENTRIES = {
  ".": "index",
  "./client": "client/index",
  "./embedding": "embedding/index",
  "./qdrant": "stores/qdrant/index",
  "./buffer-store": "compat/buffer-store/index",
  "./anthropic": "compat/anthropic/index",
  "./server": "server/index",
  "./stores": "stores/index",
  "./testing": "testing/index",
} as const;
/** How many members of these entry points may still be without a comment. */
const ALLOWED: { readonly [entry: string]: number } = { "./stores": 326, "./testing": 42 };

const api = new API({ cwd: root });
const [project] = api.updateSnapshot({ openProjects: [join(root, "tsconfig.src.json")] }).getProjects();
if (!project) throw new Error("tsconfig.src.json is not a project");
afterAll(() => api.close());

/** Declarations that an earlier entry point has shown. */
const seen = new Set<string>();
it.each(Object.entries(ENTRIES))("all that %s exports has a doc comment", (entry, path) => {
  const missing = [...undocumented(project, path)];
  const allowed = ALLOWED[entry] ?? 0;
  expect(missing.length, `without a doc comment:\n  ${missing.join("\n  ")}\n`).toBeLessThanOrEqual(allowed);
  // A ceiling with room under it has been forgotten.
  expect(missing.length).toBeGreaterThanOrEqual(allowed - 10);
});

function* undocumented({ checker, program }: Project, path: string): Iterable<string> {
  const file = program.getSourceFile(join(root, `src/${path}.ts`));
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`src/${path}.ts exports nothing`);
  for (const exported of checker.getExportsOfModule(module)) {
    const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (isNew(symbol) && symbol.getDocumentationComment(checker) === "") yield exported.name;
    for (const member of membersOf(checker, checker.getDeclaredTypeOfSymbol(symbol))) {
      if (!isNew(member) || member.getDocumentationComment(checker) !== "") continue;
      if (isExempt(checker, member) || isInherited(checker, symbol, member.name)) continue;
      yield `${exported.name}.${member.name}`;
    }
  }
}

/** The members of a type, and of each type of a union or an intersection. */
function* membersOf(checker: Checker, type: Type): Iterable<Name> {
  if (type.isUnionType() || type.isIntersectionType()) {
    for (const part of type.getTypes()) yield* membersOf(checker, part);
  } else if (type.isObjectType()) yield* checker.getPropertiesOfType(type);
}

/** Whether it is the project's own, and is seen for the first time. */
function isNew(symbol: Name): boolean {
  const node = nodeOf(symbol);
  const file = node?.getSourceFile().fileName;
  if (!node || !file?.startsWith(join(root, "src/"))) return false;
  const key = `${file}:${node.pos}`;
  return !seen.has(key) && seen.add(key) !== undefined;
}

const nodeOf = (symbol: Name): Node | undefined => symbol.declarations[0]?.resolve(project as Project);

function isExempt(checker: Checker, member: Name): boolean {
  const node = nodeOf(member);
  if (!node || /^(private|protected|#|\[Symbol)/.test(node.getText()) || member.name.includes("#")) return true;
  if (checker.getTypeOfSymbol(member)?.isLiteralType()) return true;
  if (node.parent.kind !== SyntaxKind.TypeLiteral) return false;
  for (let at = node.parent; at.parent; at = at.parent) if (at.kind === SyntaxKind.UnionType) return true;
  return false;
}

/** Whether an interface that the class implements documents the member. */
function isInherited(checker: Checker, symbol: Name, name: string): boolean {
  const node = nodeOf(symbol);
  if (!node || !isClassDeclaration(node)) return false;
  return (node.heritageClauses ?? [])
    .flatMap(({ types }) => types)
    .flatMap((type) => checker.getTypeAtLocation(type) ?? [])
    .flatMap((type) => checker.getPropertiesOfType(type))
    .some((member) => member.name === name && member.getDocumentationComment(checker) !== "");
}

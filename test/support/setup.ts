/**
 * Set-up of each test file: the same commit gives the same answer, on every machine. The seed of every random choice is
 * fixed (HOLDFAST_TEST_SEED sets another), and the environment of the person who runs the tests is cleared.
 */
import fc from "fast-check";
import { runSeed } from "./random.js";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: runSeed() });

/** Variables of the machine that change what programs print, where they write, or which servers they call. */
const FOREIGN = /^(NO_COLOR|FORCE_COLOR|LANG|LANGUAGE|LC_.*|TMPDIR|NODE_OPTIONS|QDRANT_.*|HOLDFAST_(?!TEST_).*)$/;
for (const name of Object.keys(process.env)) if (FOREIGN.test(name)) delete process.env[name];
process.env["LC_ALL"] = "C";

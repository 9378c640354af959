/** Set-up of each test file of the compiled package, after that of all tests. */
import { vi } from "vitest";

// Test files share a process, and with it the package; the modules of the tests are loaded again for each file, with their
// hooks and their state.
vi.resetModules();

// Words only, in child processes too, unless a test says otherwise: most tests are about something else.
process.env["HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL"] = "none";

/**
 * Set-up of each test file. Files share a process, and with it the package; the modules of the tests are loaded anew for
 * each file, with their hooks and what they remember.
 */
import { vi } from "vitest";

vi.resetModules();

/** The options of `connect`. */
import { describe, expect, it } from "vitest";
import type { ConnectOptions } from "./endpoint.js";
import { connect } from "./remote-memory.js";

const URL_ = "http://127.0.0.1:8000";

describe("connect", () => {
  it.each([
    ["nowhere", {}, "url"],
    ["ftp://x.test", {}, "url"],
    ["http://ada:secret@x.test", {}, "url"],
    ["http://x.test/?user=ada", {}, "url"],
    [URL_, { key: "two\nlines" }, "options.key"],
    [URL_, { retries: -1 }, "options.retries"],
    [URL_, { timeoutMs: 0 }, "options.timeoutMs"],
    [URL_, { fetch: 5 }, "options.fetch"],
    [URL_, { retrys: 5 }, "options"],
  ])("refuses %s with %o", (url, options, field) => {
    const connecting = () => connect(url, options as ConnectOptions);
    expect(connecting).toThrow(expect.objectContaining({ code: "invalid_input", details: { field } }));
    expect(connecting).not.toThrow(/secret|two/);
  });
});

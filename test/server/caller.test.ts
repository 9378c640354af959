/** What a caller is told about its own rights. */
import { connect } from "holdfast/client";
import { expect, it } from "vitest";
import { makeKey, newPath, start, startWithKeys } from "./started.js";

it("without a key, everything is open where no key is required", async () => {
  const { url } = await start();
  expect(await connect(url).caller()).toEqual({ access: "admin", spaces: ["user", "agent", "team"] });
});

it("with a key, its access and spaces, and never its secret", async () => {
  const path = newPath();
  const expiresAt = Date.now() + 3_600_000;
  const made = await makeKey(path, { access: "read", spaces: [{ user: "ada" }, "team"], expiresAt });
  const { server, anyone } = await startWithKeys({ path });
  expect(await connect(server.url, { key: made.secret }).caller()).toEqual({
    access: "read",
    spaces: [{ user: "ada" }, "team"],
    key: { id: made.id, expiresAt },
  });
  expect((await anyone.send("GET /api/v1/caller")).status).toBe(401);
});

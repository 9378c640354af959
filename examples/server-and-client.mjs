// A server on a file, an API key for one user, and a client that holds only this key.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError, openMemory } from "holdfast";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";

const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const path = join(folder, "server.db");

// Keys live in the file, so any process on it can create them: here before the server starts.
const memory = await openMemory({ path });
const { secret } = await memory.keys.create({ name: "Ada's phone", access: "write", spaces: [{ user: "ada" }] });
await memory.close();

const server = await serve({ path, server: { port: 0, requireKey: true } });
const remote = connect(server.url, { key: secret });

// The same interface as in the process, over HTTP. Lost answers are retried without writing twice.
const ada = remote.session({ user: "ada", session: "phone" });
await ada.add([{ role: "user", content: "My train to Coimbra leaves at eight." }]);
const hits = await ada.query("when does my train leave?");
console.log(hits[0]?.content);

// The key does not cover anyone else.
try {
  await remote.session({ user: "bob" }).query("train");
} catch (error) {
  if (!(error instanceof HoldfastError)) throw error;
  console.log(error.code);
}

await server.stop();
await rm(folder, { recursive: true });

/** A server in its own process, on a given or a free port, which it reports to its parent. */
import { serve } from "holdfast/server";

const [path = "", port = "0"] = process.argv.slice(2);
const server = await serve({ path, server: { port: Number(port), logLevel: "error" } });
process.send?.({ port: server.port });

/** A server in a process of its own, on a port that is given or chosen; it tells its parent which. */
import { serve } from "holdfast/server";

const [path = "", port = "0"] = process.argv.slice(2);
const server = await serve({ path, server: { port: Number(port), logLevel: "error" } });
process.send?.({ port: server.port });

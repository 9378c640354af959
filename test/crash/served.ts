/** A server in its own process, on a free port. It reports its address to its parent. */
import { serve } from "holdfast/server";

const [path = ""] = process.argv.slice(2);
const server = await serve({ path, server: { port: 0, logLevel: "error" } });
process.send?.(server.url);

/** A server in the foreground, as `holdfast serve` runs it: tells where it is, that it was told to stop, and how it ended. */
import { serve } from "holdfast/server";
import { report } from "../support/child.js";
import { untilStopped } from "./parts.js";

const [path = "", logLevel = "info"] = process.argv.slice(2);

process.once("disconnect", () => process.exit()); // it lives no longer than its parent
process.channel?.unref(); // and ends by itself when the server has stopped
const server = await serve({ path, server: { port: 0, logLevel: logLevel as "info" | "debug" } });
report({ url: server.url, pid: process.pid });
const closed = await untilStopped(server, () => report({ stopping: true }));
report({ closed });

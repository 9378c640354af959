/** `holdfast/server`: the HTTP server as a library. */
export { type AppParts, createApp, type ServerOptions } from "./app.js";
export { ServerLog } from "./log.js";
export { type RunningServer, serve } from "./serve.js";

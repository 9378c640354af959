/** The entry: starts the parts that exist for the lifetime of the tab, and mounts the app. */
import "./design/tokens.css";
import "./design/base.css";
import "./design/parts.css";
import "./design/shell.css";
import { render } from "preact";
import { start } from "./app/connection.js";
import { startLive } from "./app/live.js";
import { App } from "./app/shell.js";
import { startTheme } from "./app/theme.js";

const root = document.getElementById("app");
if (!root) throw new Error("the page has no #app");
startTheme();
startLive();
render(<App />, root);
void start();

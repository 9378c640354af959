/** The views of the app, in the order of the menu. Each loads its code when it is first opened. */

import type { FunctionComponent } from "preact";
import { isAdmin } from "./connection.js";
import { later } from "./later.js";

export interface View {
  readonly path: string;
  readonly name: string;
  readonly purpose: string;
  /** The path of an icon of 16 × 16. */
  readonly icon: string;
  readonly page: FunctionComponent;
  /** If false, the key may not use the view, and it is not offered. */
  readonly isOffered: () => boolean;
}

const everyone = (): boolean => true;
export const forAdmins = (): boolean => isAdmin.value;

export const VIEWS: readonly View[] = [
  {
    path: "/",
    name: "Overview",
    purpose: "What is in memory, and whether it is healthy.",
    icon: "M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z",
    page: later("Overview", () => import("../pages/overview/overview.js")),
    isOffered: everyone,
  },
  {
    path: "/flow",
    name: "Flow",
    purpose: "What each buffer holds, and what moves between them.",
    icon: "M2 4h3v3H2zM11 4h3v3h-3zM6.5 10h3v3h-3zM5 5.5h6M3.5 7v4.5H6.5M12.5 7v4.5H9.5",
    page: later("Flow", () => import("../pages/flow/flow.js")),
    isOffered: forAdmins,
  },
  {
    path: "/search",
    name: "Search",
    purpose: "Ask a question, and see why each answer was found.",
    icon: "M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2zM10.8 10.8 14.5 14.5",
    page: later("Search", () => import("../pages/search/search.js")),
    isOffered: everyone,
  },
  {
    path: "/conversations",
    name: "Conversations",
    purpose: "Who said what, in every session, as it is stored.",
    icon: "M2 2.5h9v6H6l-2.5 2.5V8.5H2zM7 10.5h3l2.5 2.5v-2.5H14v-5h-1",
    page: later("Conversations", () => import("../pages/conversations/conversations.js")),
    isOffered: everyone,
  },
  {
    path: "/blocks",
    name: "Blocks and facts",
    purpose: "What agents write down: texts that they edit, and what holds since when.",
    icon: "M2 2.5h12v4H2zM2 9h5v4.5H2zM9.5 9.8h4.5M9.5 12.8h3",
    page: later("Blocks and facts", () => import("../pages/blocks/blocks.js")),
    isOffered: everyone,
  },
  {
    path: "/context",
    name: "Context",
    purpose: "The exact text that goes into the prompt, and its budget.",
    icon: "M3 2h10v12H3zM5.5 5h5M5.5 8h5M5.5 11h3",
    page: later("Context", () => import("../pages/context/context.js")),
    isOffered: everyone,
  },
  {
    path: "/measurements",
    name: "Metrics",
    purpose: "Throughput, latencies, memory and queues over the last hours.",
    icon: "M2 2v12h12M4.5 10.5 7.5 7l2.5 2 3.5-5",
    page: later("Metrics", () => import("../pages/metrics/metrics.js")),
    isOffered: forAdmins,
  },
  {
    path: "/settings",
    name: "Settings",
    purpose: "Keys, configuration, import and export, backup and checks.",
    icon: "M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M10 2.5v4M6 9.5v4",
    page: later("Settings", () => import("../pages/settings/settings.js")),
    isOffered: forAdmins,
  },
  {
    path: "/docs",
    name: "API",
    purpose: "Every operation of the HTTP API, to read and to try.",
    icon: "M5.5 4 1.5 8l4 4M10.5 4l4 4-4 4",
    page: later("API", () => import("../pages/api/api.js")),
    isOffered: everyone,
  },
];

export const offeredViews = (): readonly View[] => VIEWS.filter(({ isOffered }) => isOffered());

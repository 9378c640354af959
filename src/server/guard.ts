/**
 * Guard: which web pages and names may reach the server. A page that points a name of its own at this machine (DNS
 * rebinding) sends that name as Host; a page from elsewhere sends its Origin. Both are turned away unless they are allowed.
 */
import { HoldfastError } from "../errors.js";

export interface GuardOptions {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

export const isLoopback = (host: string): boolean => LOOPBACK.has(host) || /^127(\.\d{1,3}){3}$/.test(host);

/** Whether every request needs a key: it was asked for, or others than this machine's own programs can reach the server. */
export const asksForKeys = ({ host, allowedHosts, requireKey }: KeyOptions): boolean =>
  requireKey || !isLoopback(host) || (allowedHosts ?? "") !== "";

interface KeyOptions {
  readonly host: string;
  /** As the options have them. Whoever gives the server a name lets others call it: through a proxy, for instance. */
  readonly allowedHosts: string | undefined;
  readonly requireKey: boolean;
}

export class Guard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** Bound to every interface, it cannot know its names; keys, which are required there, stand in for the check. */
  readonly #anyHost: boolean;

  constructor({ host, allowedHosts, allowedOrigins }: GuardOptions) {
    this.#hosts = new Set([...LOOPBACK, host, bracketed(host), ...allowedHosts].map((name) => name.toLowerCase()));
    this.#origins = new Set(allowedOrigins);
    this.#anyHost = (host === "0.0.0.0" || host === "::") && allowedHosts.length === 0;
  }

  /** Rejects with `forbidden`. Says which origin may read the answer, if the request comes from a page. */
  check(host: string | undefined, origin: string | undefined): string | undefined {
    if (!this.#anyHost && !this.#hosts.has(nameOf(host))) {
      throw new HoldfastError("forbidden", "the server is not known by this name", {
        hint: "call it by the address it printed, or allow the name: --allow-host NAME",
      });
    }
    if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return undefined;
    if (this.#origins.has(origin)) return origin;
    throw new HoldfastError("forbidden", "web pages from elsewhere may not call this server", {
      hint: "allow the page's origin: --allow-origin https://…",
    });
  }
}

/** The name in a Host header, without the port. */
const nameOf = (host = ""): string => host.toLowerCase().replace(/:\d+$/, "");

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

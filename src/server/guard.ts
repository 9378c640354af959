/**
 * Guard: which host names and web origins may reach the server. In DNS rebinding, a page points its own host name at this
 * machine, so the request carries that name as Host; a cross-origin page sends its Origin. Both are refused unless allowed.
 */
import { isIP } from "node:net";
import { HoldfastError } from "../errors.js";

export interface GuardOptions {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

export const isLoopback = (host: string): boolean => LOOPBACK.has(host) || /^127(\.\d{1,3}){3}$/.test(host);

/** Whether every request needs a key: if `requireKey` is set, or programs on other machines can reach the server. */
export const asksForKeys = ({ host, allowedHosts, requireKey }: KeyOptions): boolean =>
  requireKey || !isLoopback(host) || (allowedHosts ?? "") !== "";

interface KeyOptions {
  readonly host: string;
  /** The option as given. Naming a host means that others may call the server, for example through a proxy. */
  readonly allowedHosts: string | undefined;
  readonly requireKey: boolean;
}

export class Guard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** A server bound to every interface cannot know its names. It requires keys, which replace the host check. */
  readonly #anyHost: boolean;

  constructor({ host, allowedHosts, allowedOrigins }: GuardOptions) {
    this.#hosts = new Set([...LOOPBACK, host, bracketed(host), ...allowedHosts].map((name) => name.toLowerCase()));
    this.#origins = new Set(allowedOrigins);
    this.#anyHost = (host === "0.0.0.0" || host === "::") && allowedHosts.length === 0;
  }

  allowsHost(host: string | undefined): boolean {
    return this.#anyHost || this.#hosts.has(nameOf(host));
  }

  /** Returns the origin that may read the response, if the request comes from a page. Throws `forbidden`. */
  check(host: string | undefined, origin: string | undefined): string | undefined {
    if (!this.allowsHost(host)) {
      throw new HoldfastError("forbidden", "this host name is not allowed", {
        hint: "use the address that the server printed, or allow the name: --allow-host NAME",
      });
    }
    if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return undefined;
    if (this.#origins.has(origin)) return origin;
    throw new HoldfastError("forbidden", "cross-origin requests are not allowed", {
      hint: "allow the page's origin: --allow-origin https://…",
    });
  }
}

/**
 * Whether the Host is an IP address, as in the health probes of an orchestrator or load balancer, which know no name. In DNS
 * rebinding it is the page's own name.
 */
export const isAddress = (host: string | undefined): boolean => isIP(nameOf(host).replace(/^\[(.*)\]$/, "$1")) !== 0;

/** The name in a Host header, without the port. */
const nameOf = (host = ""): string => host.toLowerCase().replace(/:\d+$/, "");

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

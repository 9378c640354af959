/**
 * The address of a Qdrant server, as its client expects it. The client also accepts a URL, but drops its path and sends
 * the API key to any server. So the URL is parsed here, and unsafe ones are rejected before anything is sent.
 */
import { HoldfastError } from "../../errors.js";

/** Qdrant's port, also the default of a URL without a port, as usual with Qdrant. */
const DEFAULT_PORT = 6333;

export interface Endpoint {
  readonly https: boolean;
  readonly host: string;
  readonly port: number;
  /** The path of the server, without a trailing slash; empty for the root. */
  readonly path: string;
}

export function endpointOf(url: string, apiKey: string | undefined): Endpoint {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.search || parsed.hash) {
    throw wrong("the URL of the Qdrant server is not one", "give a URL such as http://127.0.0.1:6333");
  }
  if (parsed.username || parsed.password) {
    throw wrong("the URL of the Qdrant server carries a password", "give the key as `apiKey`, not in the URL");
  }
  const https = parsed.protocol === "https:";
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw wrong("the API key for Qdrant is empty, or has characters that no key has", "check where it was copied from");
  }
  if (apiKey !== undefined && !https && !isLoopback(parsed.hostname)) {
    throw wrong(
      `the API key would travel in the clear to ${parsed.host}`,
      "use https, or a tunnel that ends on this machine",
    );
  }
  return { https, host: parsed.hostname, port: portOf(url, parsed), path: parsed.pathname.replace(/\/+$/, "") };
}

/** The endpoint in one line, for names and messages. */
export const addressOf = ({ https, host, port, path }: Endpoint): string =>
  `${https ? "https" : "http"}://${host}:${port}${path}`;

/** `URL` hides the scheme's default port, but a port that is written explicitly must be used. */
function portOf(url: string, { port, protocol }: URL): number {
  if (port) return Number(port);
  const isWritten = /^[a-z]+:\/\/[^/?#]*:\d+(?:[/?#]|$)/i.test(url.trim());
  if (!isWritten) return DEFAULT_PORT;
  return protocol === "https:" ? 443 : 80;
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

const wrong = (message: string, hint: string): HoldfastError => new HoldfastError("config", message, { hint });

/**
 * Where a Qdrant server is, as its client wants to be told. The client takes a URL too, but drops its path and gives its
 * API key to any server; so the URL is taken apart here, and what is unsafe is refused before anything is sent.
 */
import { HoldfastError } from "../../errors.js";

/** Qdrant's own; also of a URL that names none, as everywhere with Qdrant. */
const DEFAULT_PORT = 6333;

export interface Endpoint {
  readonly https: boolean;
  readonly host: string;
  readonly port: number;
  /** The path under which the server answers, without a slash at its end; empty if it is the root. */
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

/** `URL` hides a port that is the scheme's default, and whoever has written it means it. */
function portOf(url: string, { port, protocol }: URL): number {
  if (port) return Number(port);
  const isWritten = /^[a-z]+:\/\/[^/?#]*:\d+(?:[/?#]|$)/i.test(url.trim());
  if (!isWritten) return DEFAULT_PORT;
  return protocol === "https:" ? 443 : 80;
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

const wrong = (message: string, hint: string): HoldfastError => new HoldfastError("config", message, { hint });

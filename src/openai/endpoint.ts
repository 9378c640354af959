/**
 * Where an OpenAI-compatible server is asked, and with which key. The key is sent, never shown: it must not stand in a URL, where it
 * would get into messages and logs, and it does not cross a network in plain text.
 */
import { type ErrorCode, HoldfastError } from "../errors.js";

/** Who asks the server, and for what. */
export interface Caller {
  /** Appended to the base URL. */
  readonly path: string;
  /** In messages. */
  readonly name: string;
  /** What its failures are called. */
  readonly failed: ErrorCode;
}

export interface Endpoint {
  readonly url: string;
  /** The URL without its query, for messages. */
  readonly shown: string;
  readonly headers: { readonly [name: string]: string };
  readonly caller: Caller;
}

export function endpointOf(baseUrl: string, apiKey: string | undefined, caller: Caller): Endpoint {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new HoldfastError("config", `the ${caller.name}'s base URL is not an http or https URL`, {
      hint: "give one such as https://api.openai.com/v1",
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new HoldfastError("config", `the ${caller.name}'s base URL contains a user name or a password`, {
      hint: "give the key as apiKey",
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new HoldfastError(
      "config",
      `the ${caller.name}'s API key is empty, or has characters that no header may have`,
      {
        hint: "look for a blank or a line break at its end",
      },
    );
  }
  if (apiKey !== undefined && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new HoldfastError("config", `the API key would be sent to ${url.host} over plain http`, {
      hint: "use https, or leave the key out if the server needs none",
    });
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${caller.path}`;
  url.hash = "";
  return {
    url: url.href,
    shown: `${url.origin}${url.pathname}`,
    caller,
    headers: { "content-type": "application/json", ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
  };
}

/** By name only: what a resolver says about other names may change. URL has brought numbers into their usual form. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

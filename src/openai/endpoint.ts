/**
 * The endpoint of an OpenAI-compatible server, and its key. The key never appears in a URL, where it would reach messages and
 * logs, and is never sent over a network in plain text.
 */
import { type ErrorCode, HoldfastError } from "../errors.js";

/** The component that calls the server. */
export interface Caller {
  /** Appended to the base URL. */
  readonly path: string;
  /** For messages. */
  readonly name: string;
  /** The code of its errors. */
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
      hint: "pass the key as apiKey",
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new HoldfastError(
      "config",
      `the ${caller.name}'s API key is empty or contains characters that are not allowed in a header`,
      {
        hint: "look for a trailing space or line break",
      },
    );
  }
  if (apiKey !== undefined && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new HoldfastError("config", `the API key would be sent to ${url.host} over plain http`, {
      hint: "use https, or omit the key if the server needs none",
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

/** By name only: DNS answers may change. `URL` has normalised numeric addresses. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

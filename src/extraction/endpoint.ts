/** Where a chat is asked for: by the rules for embedding servers (no key in a URL, none over plain http), at another path. */
import { type Endpoint, endpointOf } from "../embedding/openai/endpoint.js";
import { asExtractorError } from "./failure.js";

export function chatEndpoint(baseUrl: string, apiKey: string | undefined): Endpoint {
  try {
    const { url, shown, headers } = endpointOf(baseUrl, apiKey);
    return { url: atChat(url), shown: atChat(shown), headers };
  } catch (error) {
    throw asExtractorError(error);
  }
}

function atChat(embeddings: string): string {
  const url = new URL(embeddings);
  url.pathname = url.pathname.replace(/\/embeddings$/, "/chat/completions");
  return url.href;
}

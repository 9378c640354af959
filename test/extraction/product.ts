/** The extractor as it ships, with its own server, which is ended after the test. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FakeClock } from "holdfast/testing";
import { onTestFinished } from "vitest";
import type { ExtractionMessage, ExtractionRequest, KnownFact } from "../../build/lib/extraction/extractor.js";
import type { OpenAiExtractor, OpenAiExtractorOptions } from "../../build/lib/extraction/openai.js";
import { type ChatServer, startChatServer } from "../support/chat-server.js";
import { root } from "../support/root.js";

const url = pathToFileURL(join(root, "build/lib/extraction/openai.js")).href;
const product = (await import(url)) as { readonly OpenAiExtractor: typeof OpenAiExtractor };

export const API_KEY = "sk-secret-0123456789";
export const NEVER = new AbortController().signal;

/** Records what is awaited and for how long. */
export class RecordingClock extends FakeClock {
  readonly waits: number[] = [];

  override after(ms: number, task: () => void): () => void {
    this.waits.push(ms);
    return super.after(ms, task);
  }
}

export interface Opened {
  readonly clock: RecordingClock;
  readonly server: ChatServer;
  readonly extractor: OpenAiExtractor;
}

export async function open(options: Partial<OpenAiExtractorOptions> = {}): Promise<Opened> {
  const clock = new RecordingClock();
  const server = await startChatServer();
  onTestFinished(() => server.close());
  const { baseUrl } = server;
  const extractor = extractorOf({ baseUrl, model: "some-model", apiKey: API_KEY, clock, ...options });
  return { clock, server, extractor };
}

export function extractorOf(options: OpenAiExtractorOptions): OpenAiExtractor {
  return new product.OpenAiExtractor(options);
}

export function message(id: string, content: string, more: Partial<ExtractionMessage> = {}): ExtractionMessage {
  return { id, role: "user", content, occurredAt: Date.UTC(2026, 2, 1), ...more };
}

export function asking(messages: readonly ExtractionMessage[], known: readonly KnownFact[] = []): ExtractionRequest {
  return { messages, known };
}

/** A fact as the model should write it. */
export const TEA = { category: "preference", content: "Ann likes tea", confidence: 0.9, source: "m1", supersedes: [] };

/**
 * QdrantIndex held to the contract of all vector indexes: on the stand-in for a server always, and on a real one if
 * HOLDFAST_TEST_QDRANT_URL names it (with HOLDFAST_TEST_QDRANT_API_KEY).
 */
import { randomUUID } from "node:crypto";
import { QdrantClient } from "@qdrant/js-client-rest";
import { QdrantIndex, type QdrantIndexOptions } from "holdfast/qdrant";
import { type VectorIndexConformance, vectorIndexConformance } from "holdfast/testing";
import { describe, it } from "vitest";
import { QdrantServer } from "../support/qdrant-server.js";

type OpenedIndex = Awaited<ReturnType<VectorIndexConformance["open"]>>;

function openWith(options: QdrantIndexOptions, end: () => Promise<void>): OpenedIndex {
  const opened: QdrantIndex[] = [];
  const open = (): QdrantIndex => {
    const index = new QdrantIndex(options);
    opened.push(index);
    return index;
  };
  return {
    index: open(),
    reopen: async () => open(),
    close: async () => {
      for (const index of opened) await index.close();
      await end();
    },
  };
}

vectorIndexConformance({
  name: "QdrantIndex on the stand-in",
  open: async () => {
    const server = await QdrantServer.start();
    return openWith({ url: server.url }, () => server.close());
  },
});

const { env } = process;
const url = env["HOLDFAST_TEST_QDRANT_URL"];
const apiKey = env["HOLDFAST_TEST_QDRANT_API_KEY"];

if (url === undefined) {
  describe("QdrantIndex on a real server", () => {
    it.skip("keeps the VectorIndex contract (skipped: HOLDFAST_TEST_QDRANT_URL is not set)", () => {});
  });
} else {
  const key = apiKey === undefined ? {} : { apiKey };
  vectorIndexConformance({
    name: "QdrantIndex on a real server",
    open: async () => {
      const collection = `holdfast_test_${randomUUID()}`;
      return openWith({ url, collection, ...key }, async () => {
        const client = new QdrantClient({ url, ...key });
        const { collections } = await client.getCollections();
        for (const { name } of collections) if (name.startsWith(`${collection}_`)) await client.deleteCollection(name);
      });
    },
  });
}

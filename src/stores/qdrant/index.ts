/** Qdrant as an external vector index. Needs the package @qdrant/js-client-rest. */
export { QdrantIndex, type QdrantIndexOptions } from "./qdrant-index.js";

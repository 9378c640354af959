/** A closed QdrantIndex keeps no process alive, even if it was closed during a call. */
import { expect, it } from "vitest";
import { Child } from "../support/child.js";
import { QdrantServer } from "../support/qdrant-server.js";
import type { Leaving } from "./leaver.js";

const LEAVER = new URL("./leaver.js", import.meta.url);

async function leave(how: "at rest" | "in the middle of a search"): Promise<Leaving | undefined> {
  const server = await QdrantServer.start();
  let leaving: Leaving | undefined;
  try {
    const child: Child<string, Leaving | "ready"> = new Child(LEAVER, [server.url, how], (report) => {
      if (report === "ready") void interrupt(server, child);
      else leaving = report;
    });
    expect(await child.ended).toMatchObject({ code: 0, stderr: "" });
    return leaving;
  } finally {
    await server.close();
  }
}

/** The server never answers the search, and the time-out is far off: only the close can end the process. */
async function interrupt(server: QdrantServer, child: Child<string, unknown>): Promise<void> {
  server.stall();
  const seen = server.requests.length;
  child.give("search");
  await server.arrived(seen + 1);
  child.give("close");
}

it("leaves no timer and no socket that keeps the process alive", async () => {
  const leaving = await leave("at rest");
  expect(leaving?.resources).not.toContain("Timeout");
  expect(leaving?.resources).not.toContain("TCPSocketWrap");
});

it("gives up what is under way", async () => {
  expect(await leave("in the middle of a search")).toBeDefined();
});

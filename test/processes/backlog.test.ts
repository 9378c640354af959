/** The backlog is on disk: an embedder that does not answer costs time, but no memory and no message. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { Child } from "../support/child.js";
import { inFolder } from "../support/folder.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import { type Hoard, MESSAGES } from "./hoarder.js";

const MIB = 1024 * 1024;

it(`takes ${MESSAGES.toLocaleString("en")} messages while the embedder stands still, in less than 100 MB, and loses none`, () =>
  inFolder(async (folder) => {
    const path = join(folder, "memory.db");
    const hoards: Hoard[] = [];
    const child = new Child<never, Hoard>(new URL("./hoarder.js", import.meta.url), [path], (hoard) =>
      hoards.push(hoard),
    );
    const { code, signal, stderr } = await child.ended;
    expect([code, signal, stderr]).toEqual([0, null, ""]);
    const [hoard] = hoards as [Hoard];
    const grown = hoard.after - hoard.before;
    const [before, more, peak] = [hoard.before, grown, hoard.peak - hoard.before].map((bytes) =>
      Math.round(bytes / MIB),
    );
    console.log(
      `RSS ${before} MiB after the warm-up, ${more} MiB more with the backlog, at most ${peak} MiB more on the way`,
    );
    expect(hoard).toMatchObject({ embeddedMeanwhile: 0, parked: 0 });
    expect(hoard.heldCalls).toBeGreaterThan(0);
    expect(grown).toBeLessThan(100 * MIB);

    const { problems, ...audit } = await auditVectors(path, "message");
    expect(problems).toEqual([]);
    expect(audit).toMatchObject({ items: MESSAGES, pending: hoard.pending });
    expect(audit.pending + audit.compared).toBe(MESSAGES);
    expect(unsoundness(path)).toEqual([]);
  }));

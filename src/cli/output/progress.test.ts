import { Writable } from "node:stream";
import { expect, it } from "vitest";
import type { Output } from "../io.js";
import { Progress } from "./progress.js";

function stream(isTTY: boolean): { readonly stderr: Output; readonly text: () => string } {
  let text = "";
  const stderr = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return { stderr: Object.assign(stderr, { isTTY }), text: () => text };
}

it("shows how far the work is, and takes the bar away at its end", () => {
  const { stderr, text } = stream(true);
  const progress = new Progress({ stderr }, "copying", true);
  progress.update(512, 1024);
  expect(text()).toBe("\r\u001b[Kcopying  [############            ] 50%  512 of 1,024");
  progress.update(513, 1024); // too soon to draw again
  progress.end();
  progress.end();
  expect(text()).toBe("\r\u001b[Kcopying  [############            ] 50%  512 of 1,024\r\u001b[K");
});

it("counts where no total is known", () => {
  const { stderr, text } = stream(true);
  new Progress({ stderr }, "adding", true).update(2048);
  expect(text()).toContain("adding  2,048");
});

it("prints nothing elsewhere, or if it is turned off", () => {
  for (const [isTTY, isWanted] of [
    [false, true],
    [true, false],
  ] as const) {
    const { stderr, text } = stream(isTTY);
    const progress = new Progress({ stderr }, "copying", isWanted);
    progress.update(1, 2);
    progress.end();
    expect(text()).toBe("");
  }
});

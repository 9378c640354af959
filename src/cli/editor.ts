/** The person's own editor on a text, as git opens it for a message. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../errors.js";
import type { Call } from "./call.js";

/** The text after editing. The file lies in a folder that nobody else can read, and is gone afterwards. */
export async function editText(call: Call, text: string, name: string): Promise<string> {
  const editor = call.io.env["VISUAL"] || call.io.env["EDITOR"];
  if (!editor) {
    throw new HoldfastError("invalid_input", "no editor is known", {
      hint: "set EDITOR, or say the change with --content, --append or --replace",
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "holdfast-edit-"));
  const file = join(folder, name.replace(/[^\w.-]/g, "_"));
  try {
    writeFileSync(file, text, { mode: 0o600 });
    await edited(editor, file);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** EDITOR may have arguments, so a shell reads it; the file's name is handed over beside it, and read by no shell. */
function edited(editor: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stdio = "inherit";
    const child =
      process.platform === "win32"
        ? spawn(editor, [file], { stdio, shell: true })
        : spawn("/bin/sh", ["-c", `${editor} "$1"`, editor, file], { stdio });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) return resolve();
      const hint = `EDITOR is ${editor}`;
      reject(new HoldfastError("invalid_input", "the editor ended with an error; nothing was changed", { hint }));
    });
  });
}

/** Opens a text in the user's editor, as git does for a message. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../errors.js";
import { decodeUtf8 } from "../text.js";
import type { Call } from "./call.js";

/** The edited text. `otherwise` says what to do without an editor. The temporary file is in a private folder and is removed afterwards. */
export async function editText(call: Call, text: string, name: string, otherwise: string): Promise<string> {
  const editor = call.io.env["VISUAL"] || call.io.env["EDITOR"];
  if (!editor) {
    throw new HoldfastError("invalid_input", "no editor is configured", {
      hint: `set EDITOR, or ${otherwise}`,
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "holdfast-edit-"));
  const file = join(folder, name.replace(/[^\w.-]/g, "_"));
  try {
    writeFileSync(file, text, { mode: 0o600 });
    await edited(editor, file);
    return decodeUtf8(readFileSync(file), "the edited text");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** EDITOR may have arguments, so a shell parses it; the file name is passed as an argument and not parsed. */
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
      reject(new HoldfastError("invalid_input", "the editor failed; nothing was changed", { hint }));
    });
  });
}

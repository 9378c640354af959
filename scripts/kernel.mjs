// Compiles the kernel of vector search from its text format into a module that contains the bytes, so that threads, bundles
// and the published package need no extra file. Run it after every change of kernel.wat; a test compares the two.
import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const folder = new URL("../src/retrieval/vectors/kernel/", import.meta.url);
const source = new URL("kernel.wat", folder);

const { parseWat } = await wabt();
const module = parseWat("kernel.wat", readFileSync(source, "utf8"), { simd: true });
module.resolveNames();
module.validate();
const base64 = Buffer.from(module.toBinary({}).buffer).toString("base64");
module.destroy();

const lines = (base64.match(/.{1,100}/g) ?? []).map((line) => `  "${line}"`);
const header = "/** Generated from kernel.wat by `npm run build:kernel`. Do not edit. */";
const text = `${header}\nexport const KERNEL_BASE64 =\n${lines.join(" +\n")};\n`;

// `--print` prints the module instead of writing it.
if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(new URL("kernel-bytes.ts", folder), text);

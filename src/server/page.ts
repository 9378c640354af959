/** Renders the OpenAPI document as an HTML page: one file, no script, no external resources. */
import type { OpenApi, OpenApiOperation } from "./openapi.js";

/** Forbids loading or running anything, in case text in the page is hostile. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0a7d6c; }
@media (prefers-color-scheme: dark) { :root { --accent: #4fd1bd; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow: auto; padding: 1.25rem; border-right: 1px solid var(--line); }
nav ul { list-style: none; padding: 0; margin: 0 0 1rem; } nav b { display: block; margin-top: .5rem; }
nav a { color: inherit; text-decoration: none; font-size: 13px; } nav a:hover { text-decoration: underline; }
main { padding: 1.25rem 2rem 4rem; max-width: 60rem; }
h1 { margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
section { margin: 1.5rem 0; } h3 { margin: 0; font: 600 15px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.method { color: var(--accent); } p { margin: .25rem 0 .5rem; } .note { opacity: .75; font-size: 13px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; } td, th { text-align: left; vertical-align: top; padding: .2rem .75rem .2rem 0; border-top: 1px solid var(--line); }
pre, code { font-family: ui-monospace, monospace; font-size: 13px; } pre { background: var(--soft); padding: .6rem .8rem; overflow: auto; border-radius: 6px; margin: .4rem 0; }
details { margin: .3rem 0; } summary { cursor: pointer; font-size: 13px; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } main { padding: 1.25rem; } }
`;

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

export function pageOf(api: OpenApi, url: string): string {
  const groups = new Map<string, Shown[]>();
  for (const one of operationsOf(api)) {
    const tag = one.operation.tags[0] ?? "";
    groups.set(tag, [...(groups.get(tag) ?? []), one]);
  }
  const menu = [...groups].map(([tag, shown]) => `<b>${text(tag)}</b><ul>${shown.map(menuItem).join("")}</ul>`);
  const body = [...groups].map(
    ([tag, shown]) => `<h2>${text(tag)}</h2>${shown.map((one) => section(one, url)).join("")}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Holdfast API</title><style>${STYLE}</style></head>
<body><nav><b>Holdfast API</b><p class="note"><a href="/openapi.json">openapi.json</a></p>${menu.join("")}</nav>
<main><h1>Holdfast</h1>
<p>Memory for AI agents. Set the scope in the query string:
<code>user</code>, <code>agent</code>, <code>team</code>, <code>session</code>. Messages are durable and searchable when the response arrives.</p>
<pre>curl '${text(url)}/api/v1/messages?user=ada&amp;session=first' \\
  -H 'content-type: application/json' \\
  -d '{"messages":[{"role":"user","content":"I moved to Lisbon in May."}]}'</pre>
<p>Every response is <code>{status, code, data, message, errors}</code>, and its HTTP status is the outcome. An error says what to
do next in <code>error.hint</code>. If the server requires keys, send <code>Authorization: Bearer hf_…</code>.</p>
${body.join("")}
<h2>Schemas</h2>${Object.entries(api.components.schemas).map(shape).join("")}
</main></body></html>`;
}

function operationsOf({ paths }: OpenApi): readonly Shown[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const menuItem = ({ operation }: Shown): string =>
  `<li><a href="#${text(operation.operationId)}">${text(operation.operationId)}</a></li>`;

function section({ method, path, operation }: Shown, url: string): string {
  const { operationId, summary, description = "", parameters, requestBody } = operation;
  const [media, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const rows = parameters.map(
    ({ name, in: place, required, schema, description: about = "" }) =>
      `<tr><td><code>${text(name)}</code>${required ? " *" : ""}</td><td>${place}</td><td>${text(typeOf(schema))}</td><td>${text(about)}</td></tr>`,
  );
  return `<section id="${text(operationId)}"><h3><span class="method">${method}</span> ${text(path)}</h3>
<p>${text(summary)}</p><p class="note">${text(description)}</p>
${rows.length > 0 ? `<details><summary>Parameters</summary><table>${rows.join("")}</table></details>` : ""}
${body ? `<details><summary>Body (${text(media ?? "")}): ${shapeLink(typeOf(body.schema))}</summary>${json(body.schema)}</details>` : ""}
<details><summary>curl</summary><pre>${text(curlOf(method, path, operation, body !== undefined, url))}</pre></details></section>`;
}

function curlOf(method: string, path: string, { parameters }: OpenApiOperation, hasBody: boolean, url: string): string {
  const scope = parameters.some(({ name, in: place }) => place === "query" && name === "user") ? "?user=ada" : "";
  const data = hasBody ? ` \\\n  -H 'content-type: application/json' -d '{…}'` : "";
  return `curl -X ${method} '${url}${path}${scope}'${data}`;
}

const shape = ([name, schema]: [string, unknown]): string =>
  `<section id="shape-${text(name)}"><h3>${text(name)}</h3>${json(schema)}</section>`;

function typeOf(schema: { readonly [key: string]: unknown }): string {
  const { type, $ref, enum: choices, anyOf } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "";
  if (Array.isArray(choices)) return choices.join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as { [key: string]: unknown })).join(" | ");
  return typeof type === "string" ? type : "any";
}

const shapeLink = (name: string): string =>
  /^[A-Z]\w+$/.test(name) ? `<a href="#shape-${name}">${name}</a>` : text(name);

const json = (value: unknown): string => `<pre>${text(JSON.stringify(value, null, 1))}</pre>`;

const text = (value: string): string => value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

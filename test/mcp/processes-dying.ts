/**
 * A client that will be killed: starts `holdfast mcp`, reports its process id, then saves endlessly and reports the id
 * of each acknowledged memory. Arguments: the path of the file, its name.
 */
import { report } from "../support/child.js";
import { Agent } from "./processes-clients.js";

export type Told = { readonly pid: number } | { readonly id: string };

if (process.argv[1]?.endsWith("processes-dying.js")) {
  const [path = "", name = ""] = process.argv.slice(2);
  const agent = await Agent.overStdio(["--path", path, "--user", "ada", "--session", name]);
  report({ pid: agent.pid ?? 0 } satisfies Told);
  for (let number = 0; ; number++) report({ id: await agent.save(`${name} saw boat ${number}`) } satisfies Told);
}

/** holdfast key: API keys of a server. */
import { HoldfastError } from "../../errors.js";
import { ACCESS, type Access, type ApiKey, type KeySpace } from "../../stores/keys.js";
import type { SpaceKind } from "../../types.js";
import { choiceFlag, type Definition, flag, type Group } from "../definition.js";
import { futureMoment, gathered } from "../flag-values.js";
import { styled } from "../output/style.js";
import { spaceText } from "../scope-flags.js";
import { noteNext, pageOf, pageOptions } from "./page-flags.js";

const KINDS = ["user", "agent", "team"] as const satisfies readonly SpaceKind[];

interface KeyFlags {
  readonly name?: string;
  readonly access: Access;
  readonly user?: readonly string[];
  readonly agent?: readonly string[];
  readonly team?: readonly string[];
  readonly every?: readonly SpaceKind[];
  readonly expires?: string | number;
}

const create: Definition = {
  name: "create",
  purpose: "Create an API key for a server.",
  about:
    "The key is printed once and cannot be shown again. A server on the same file accepts it at once. With --access admin it gives access to everything.",
  options: [
    flag("--name <text>", "its purpose, shown in lists"),
    choiceFlag("--access <access>", "read, write (and read), or admin", ACCESS).default("read"),
    flag("-u, --user <name>", "access to this user's memory; repeatable", gathered),
    flag("-a, --agent <name>", "access to this agent's memory; repeatable", gathered),
    flag("-t, --team <name>", "access to this team's memory; repeatable", gathered),
    flag("--every <kind>", "access to every user, agent or team; repeatable", everyKind),
    flag("--expires <time>", "when it expires: a date, a time, or a span such as 90d", futureMoment),
  ],
  isKeyed: true,
  examples: [
    'holdfast key create --user ada --access write --name "Ada\'s laptop"',
    "holdfast key create --every user --expires 90d",
    "HOLDFAST_KEY=$(holdfast key create --access admin)",
  ],
  async run(call) {
    const { printer } = call;
    const { name, access, expires } = call.flags<KeyFlags>();
    const key = {
      access,
      spaces: spacesOf(call.flags<KeyFlags>()),
      ...(name !== undefined && { name }),
      ...(expires !== undefined && { expiresAt: expires }),
    };
    await call.withMemory({ create: true }, async ({ keys }) => {
      const created = await keys.create(key, call.key);
      if (printer.json) return printer.value(created);
      await printer.line(created.secret);
      printer.note(styled("green", `key ${created.key.id}: ${access}, ${spacesText(created.key)}`));
      printer.note("save it now: it will not be shown again; clients read it from HOLDFAST_KEY");
    });
  },
};

function everyKind(text: string, before: readonly string[] | undefined): readonly string[] {
  const kind = KINDS.find((one) => one === text || `${one}s` === text);
  if (kind) return [...(before ?? []), kind];
  throw new HoldfastError("invalid_input", "--every takes user, agent or team", { hint: "for example --every user" });
}

function spacesOf({ access, user = [], agent = [], team = [], every = [] }: KeyFlags): readonly KeySpace[] {
  const spaces = [
    ...every,
    ...user.map((name) => ({ user: name })),
    ...agent.map((name) => ({ agent: name })),
    ...team.map((name) => ({ team: name })),
  ];
  if (spaces.length > 0) return spaces;
  if (access === "admin") return KINDS;
  throw new HoldfastError("invalid_input", "the key covers no memory", {
    hint: "pass --user ada, --team docs, --agent tutor, or --every user",
  });
}

const list: Definition = {
  name: "list",
  purpose: "List API keys, including revoked and expired ones.",
  options: pageOptions("keys"),
  examples: ["holdfast key list", "holdfast key list --url http://127.0.0.1:8000 --json"],
  async run(call) {
    const { printer } = call;
    await call.withMemory({}, async ({ keys }) => {
      const page = await keys.list(pageOf(call));
      if (printer.json) return printer.value(page);
      const names = ["ID", "STATE", "ACCESS", "MADE", "EXPIRES", "OPENS", "NAME"];
      const now = Date.now();
      const rows = page.items.map((key) => [
        key.id,
        stateOf(key, now),
        key.access,
        call.time(key.createdAt),
        key.expiresAt === undefined ? "" : call.time(key.expiresAt),
        spacesText(key),
        key.name ?? "",
      ]);
      if (rows.length > 0)
        await printer.table(
          names.map((name) => ({ name })),
          rows,
        );
      noteNext(call, page, "keys");
    });
  },
};

const revoke: Definition = {
  name: "revoke",
  args: "<id>",
  argHelp: { id: "the key's id, as shown by the list" },
  purpose: "Revoke a key. It is refused from now on.",
  examples: ["holdfast key revoke 3f2a1b4c5d6e7f80"],
  async run(call) {
    await call.withMemory({}, async ({ keys }) => {
      const key = await keys.revoke(call.arg(0));
      if (call.printer.json) return call.printer.value(key);
      return call.printer.line(`${key.id} is revoked`);
    });
  },
};

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "valid";
}

const spacesText = ({ spaces }: ApiKey): string =>
  spaces.map((space) => (typeof space === "string" ? `every ${space}` : spaceText(space))).join(", ");

export const keyGroup: Group = {
  name: "key",
  alias: "keys",
  purpose: "Create, list and revoke a server's API keys.",
  commands: [create, list, revoke],
};

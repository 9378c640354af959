/** holdfast key: who may come in through a server, and what each may do there. */
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
  purpose: "Make an API key for a server.",
  about:
    "It is printed once, and cannot be read again. A server on the same file knows it at once. With --access admin it opens everything.",
  options: [
    flag("--name <text>", "what it is for; shown in lists"),
    choiceFlag("--access <access>", "read, write (and read), or admin", ACCESS).default("read"),
    flag("-u, --user <name>", "opens the memory of this user; may be given several times", gathered),
    flag("-a, --agent <name>", "of this agent", gathered),
    flag("-t, --team <name>", "of this team", gathered),
    flag("--every <kind>", "of every user, agent or team: say which; may be given several times", everyKind),
    flag("--expires <time>", "opens nothing from then on: a date, a time, or in a span such as 90d", futureMoment),
  ],
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
      const created = await keys.create(key);
      if (printer.json) return printer.value(created);
      await printer.line(created.secret);
      printer.note(styled("green", `key ${created.key.id}: ${access}, ${spacesText(created.key)}`));
      printer.note("keep it now: it is not shown again; give it to clients as HOLDFAST_KEY");
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
  throw new HoldfastError("invalid_input", "nothing says whose memory the key opens", {
    hint: "name it: --user ada, --team docs, --agent tutor, or --every user",
  });
}

const list: Definition = {
  name: "list",
  purpose: "List API keys, revoked and expired ones too.",
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
  argHelp: { id: "the key's id, as the list shows it" },
  purpose: "Take a key back; from now on it opens nothing.",
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
  purpose: "API keys of a server: make, list and revoke them.",
  commands: [create, list, revoke],
};

/** Samples as requests. */
import { type Listed, OPERATIONS } from "./parts.js";
import type { Sample } from "./sample.js";
import { SAMPLES } from "./samples.js";
import type { Answer, Caller, Sent } from "./started.js";
import type { World } from "./world.js";

export interface Place {
  readonly [key: string]: string;
}

export const placeOf = ({ user, session }: World): Place => ({ user, session });

export function sampleOf({ name }: Pick<Listed, "name">, world: World): Sample {
  const make = SAMPLES[name] as ((world: World) => Sample) | undefined;
  if (!make) throw new Error(`test/server/samples.ts has no request for ${name}`);
  return make(world);
}

/** Route and rest of a request; the scope is left out where the operation takes none. */
export function requestOf(
  listed: Listed,
  world: World,
  place: Place = placeOf(world),
): { readonly route: string; readonly sent: Sent } {
  const { params = {}, query = {}, body } = sampleOf(listed, world);
  const path = listed.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return {
    route: `${listed.method} /api/v1${path}`,
    sent: {
      query: { ...(listed.operation.scope === "none" ? {} : place), ...query },
      ...(body !== undefined && { body }),
    },
  };
}

export async function ask(caller: Caller, listed: Listed, world: World, place?: Place): Promise<Answer> {
  const { route, sent } = requestOf(listed, world, place);
  return caller.send(route, sent);
}

export const byName = (name: string): Listed => {
  const found = OPERATIONS.find((listed) => listed.name === name);
  if (!found) throw new Error(`there is no operation ${name}`);
  return found;
};

/** An optional id or name, validated; omitted if undefined. */
import { parseIdentity } from "../input/identity.js";

export const named = <Key extends string>(key: Key, value: unknown): { readonly [key in Key]?: string } =>
  value === undefined ? {} : ({ [key]: parseIdentity(value, key) } as { readonly [key in Key]: string });

/**
 * An upper bound of the tokens of a text, for any encoding over bytes: no token is shorter than one byte. Needs no
 * vocabulary, so a caller with a large enough budget can skip the count.
 */
export function tokensAtMost(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

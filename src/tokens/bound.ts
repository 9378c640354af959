/**
 * How many tokens a text has at most in any encoding over bytes: no token is shorter than one byte. Loads nothing, so that
 * a caller with room to spare can do without a count.
 */
export function tokensAtMost(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

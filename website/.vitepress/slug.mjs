/** The anchor of a heading, as GitHub makes it, so that a link works in both places. The tests of the pages use it, too. */
export const slug = (heading) =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

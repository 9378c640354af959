/**
 * Parses JSON text from outside. Text that would take a parser, or code that walks the value, disproportionately long
 * is rejected before it is parsed: 16 MB of `[` keep `JSON.parse` busy for seconds, and so do a million keys.
 */
import { type ErrorDetails, HoldfastError } from "../errors.js";
import { withoutMark } from "../text.js";
import { TEXT_DEPTH_MAX, TEXT_ELEMENTS_MAX } from "./limits.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Parses the text. Throws `invalid_input` or `too_large`. `what` names the text in the message. */
export function parseJson(text: string, what: string, details?: ErrorDetails["details"]): unknown {
  checkJsonBounds(text, what, details);
  try {
    return JSON.parse(withoutMark(text));
  } catch {
    // The parser's own message would quote the text.
    throw new HoldfastError("invalid_input", `${what} is not valid JSON`, {
      hint: "write one JSON value, in UTF-8",
      ...(details && { details }),
    });
  }
}

/**
 * Throws if the JSON at the start of the text exceeds the limits on depth and elements. Makes one pass and skips
 * strings with `indexOf`, so long strings cost almost nothing. Does not check whether the text is valid JSON; the
 * parser does.
 */
export function checkJsonBounds(text: string, what: string, details?: ErrorDetails["details"]): void {
  let depth = 0;
  /**
   * Every element of a list or an object follows an opening bracket or a comma. An empty list or object counts as one
   * element.
   */
  let elements = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at < 0) return;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        elements++;
        if (depth > TEXT_DEPTH_MAX) throw tooDeep(what, details);
        if (elements > TEXT_ELEMENTS_MAX) throw tooMany(what, details);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case COMMA:
        elements++;
        if (elements > TEXT_ELEMENTS_MAX) throw tooMany(what, details);
        break;
      default:
    }
  }
}

/**
 * The end of the string that starts at a quote; -1 if it has none. A quote after an odd number of backslashes is
 * escaped.
 */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

const tooDeep = (what: string, details: ErrorDetails["details"] = {}): HoldfastError =>
  new HoldfastError("invalid_input", `${what} is nested deeper than ${TEXT_DEPTH_MAX} levels`, {
    hint: "lists and objects inside each other count; nest them less, or keep the value as text",
    details: { ...details, maxDepth: TEXT_DEPTH_MAX },
  });

const tooMany = (what: string, details: ErrorDetails["details"] = {}): HoldfastError =>
  new HoldfastError("too_large", `${what} has more than ${TEXT_ELEMENTS_MAX} elements`, {
    hint: "the elements of all lists and objects count together; send it in several parts",
    details: { ...details, maxElements: TEXT_ELEMENTS_MAX },
  });

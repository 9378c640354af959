/** Items as lists show them. */
import type { Item } from "../../types.js";

/** Who said it, or what it is if nobody did. */
export const speakerOf = ({ name, role, kind }: Item): string => name ?? role ?? kind;

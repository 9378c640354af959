/** From one page of a list to the next, and back to the first: a page is replaced, so a long list stays small. */
import type { Page } from "holdfast/client";
import { Button } from "./button.js";

export const PAGE = 100;

interface PageButtonsProps {
  readonly page: Page<unknown>;
  /** Undefined: this is the first page. */
  readonly cursor: string | undefined;
  readonly onGo: (cursor: string | undefined) => void;
}

export function PageButtons({ page: { next }, cursor, onGo }: PageButtonsProps) {
  if (next === undefined && cursor === undefined) return null;
  return (
    <div class="row">
      <Button small disabled={cursor === undefined} onClick={() => onGo(undefined)}>
        First
      </Button>
      <Button small disabled={next === undefined} onClick={() => onGo(next)}>
        Next {PAGE}
      </Button>
    </div>
  );
}

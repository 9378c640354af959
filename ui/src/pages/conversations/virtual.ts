/** A virtual list in Preact: only rows in view are rendered, and a change before them does not move them. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";

type Options = VirtualizerOptions<HTMLElement, HTMLElement>;
type Given = Pick<Options, "count" | "getScrollElement" | "estimateSize" | "getItemKey" | "overscan">;

export function useVirtual(given: Given): Virtualizer<HTMLElement, HTMLElement> {
  const [, render] = useReducer((before: number, _: undefined) => before + 1, 0);
  const options: Options = {
    ...given,
    // Rows keep their place when others come or go before them.
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: 40,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(undefined),
  };
  const list = useRef<Virtualizer<HTMLElement, HTMLElement>>(undefined);
  list.current ??= new Virtualizer(options);
  const virtual = list.current;
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}

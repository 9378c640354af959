/** A number that grows at an interval, for pages that show what no event reports. It pauses while the tab is hidden. */
import { useEffect, useState } from "preact/hooks";

export function usePollCount(everyMs: number): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setCount((before) => before + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return count;
}

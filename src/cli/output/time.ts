/** Formats times: local and short on a terminal, ISO 8601 in UTC elsewhere. */

const two = (number: number): string => String(number).padStart(2, "0");

export function timeText(ms: number, isTerminal: boolean): string {
  const date = new Date(ms);
  if (!isTerminal) return date.toISOString();
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/**
 * Days, weeks, months and years as half-open ranges of UTC milliseconds. A calendar belongs to one question: it knows
 * the day of asking in the asker's time zone. The zone's offset at that moment is used for all dates; daylight saving
 * shifts a day by an hour, which does not matter here.
 */

export interface Range {
  readonly from: number;
  readonly to: number;
}

const DAY = 86_400_000;

export class Calendar {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly askedAt: number;
  readonly #offset: number;

  constructor(askedAt: number, timeZone = "UTC") {
    this.askedAt = askedAt;
    this.#offset = timeZone === "UTC" ? 0 : offsetOf(askedAt, timeZone);
    const wall = new Date(askedAt + this.#offset);
    this.year = wall.getUTCFullYear();
    this.month = wall.getUTCMonth() + 1;
    this.day = wall.getUTCDate();
  }

  /** The first moment of a day. Months and days beyond their ends overflow. */
  at(year: number, month = 1, day = 1): number {
    // Date.UTC maps the years 0 to 99 to 1900 to 1999; no message is that old.
    return Date.UTC(year, month - 1, day) - this.#offset;
  }

  dayRange(year: number, month: number, day: number): Range {
    return { from: this.at(year, month, day), to: this.at(year, month, day + 1) };
  }

  /** The week, from Monday, that contains a day. */
  weekRange(year: number, month: number, day: number): Range {
    const weekday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
    return { from: this.at(year, month, day - weekday), to: this.at(year, month, day - weekday + 7) };
  }

  monthRange(year: number, month: number): Range {
    return { from: this.at(year, month), to: this.at(year, month + 1) };
  }

  yearRange(year: number): Range {
    return { from: this.at(year), to: this.at(year + 1) };
  }

  /** `days` on each side of a day: the meaning of "two months ago". */
  around(year: number, month: number, day: number, days: number): Range {
    return { from: this.at(year, month, day - days), to: this.at(year, month, day + days + 1) };
  }

  /** The number of days from a day to the day of asking. */
  daysSince(year: number, month: number, day: number): number {
    return Math.round((this.at(this.year, this.month, this.day) - this.at(year, month, day)) / DAY);
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The milliseconds to add to UTC for the wall-clock time of a zone. */
function offsetOf(instant: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(timeZone, format);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
}

// What the server writes to its log, with the level that it gave each line.

export type Level = "debug" | "info" | "warn" | "error";

const LEVELS: Readonly<Record<string, Level>> = { DEBUG: "debug", INFO: "info", WARNING: "warn", ERROR: "error", CRITICAL: "error" };

/** Takes lines one after the other: `2026-01-02 03:04:05,678 WARNING name: text`. Lines that belong to the one before, such
 * as those of a traceback, have its level. */
export class LogReader {
  private level: Level = "info";

  read(line: string): { readonly level: Level; readonly text: string } {
    const match = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d+ ([A-Z]+) (.*)$/.exec(line);
    const level = LEVELS[match?.[1] ?? ""];
    if (match === null || level === undefined) {
      return { level: this.level, text: line };
    }
    this.level = level;
    return { level, text: match[2] ?? "" };
  }
}

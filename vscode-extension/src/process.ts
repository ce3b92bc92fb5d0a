// Runs a program to its end and gives what it printed.

import { type ChildProcess, spawn } from "node:child_process";

export interface Ended {
  /** The exit code; undefined when the program could not be started or was killed. */
  readonly code: number | undefined;
  readonly output: string;
  readonly errors: string;
}

export interface Wish {
  readonly folder?: string;
  /** Kills the program when it is aborted. */
  readonly signal?: AbortSignal;
  /** Gets each line of either stream. */
  readonly onLine?: (line: string) => void;
}

/** Never rejects: a program that cannot be started has no exit code and says why in `errors`. */
export function runToEnd(command: string, words: readonly string[], wish: Wish = {}): Promise<Ended> {
  return new Promise((resolve) => {
    let output = "";
    let errors = "";
    let child: ChildProcess;
    try {
      child = spawn(command, words, {
        cwd: wish.folder,
        env: { ...process.env, PYTHONIOENCODING: "utf-8", PYTHONUNBUFFERED: "1" },
        stdio: ["ignore", "pipe", "pipe"],
        windowsHide: true,
        ...(wish.signal === undefined ? {} : { signal: wish.signal }),
      });
    } catch (error) {
      resolve({ code: undefined, output, errors: String(error) });
      return;
    }
    const feed = lines(wish.onLine);
    child.stdout?.setEncoding("utf-8").on("data", (text: string) => {
      output += text;
      feed(text);
    });
    child.stderr?.setEncoding("utf-8").on("data", (text: string) => {
      errors += text;
      feed(text);
    });
    child.on("error", (error) => resolve({ code: undefined, output, errors: errors + error.message }));
    child.on("close", (code) => resolve({ code: code ?? undefined, output, errors }));
  });
}

function lines(take: ((line: string) => void) | undefined): (text: string) => void {
  let rest = "";
  return (text) => {
    const parts = (rest + text).split(/\r?\n/);
    rest = parts.pop() ?? "";
    parts.forEach((line) => take?.(line));
  };
}

/** The line in which a program that failed most likely says why, and how it ended. */
export function whyItEnded({ code, output, errors }: Ended): string {
  const said = (errors.trim() || output.trim()).split("\n").at(-1)?.trim() ?? "";
  const how = code === undefined ? "" : `exit code ${code}`;
  return [said, how].filter((part) => part !== "").join(", ") || "it did not answer";
}

// The command lines of `cuda-lsp run`, `explain` and `check` for one kernel, with what the editor's settings say.

/** What the command takes as the server does. */
export interface Surroundings {
  /** The server's settings that somebody has set. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether the command is started in a folder of the workspace. */
  readonly isInWorkspace: boolean;
}

export const STAGES = ["ir", "events", "lockstep", "pairs", "conditions"] as const;
export type Stage = (typeof STAGES)[number];

/** `extra`: further arguments of the user, such as `--seeds 16`. */
export function run(file: string, kernel: string, at: Surroundings, extra: readonly string[]): string[] {
  return ["run", `${file}:${kernel}`, "--color", "always", ...given(at), ...extra];
}

export function explain(file: string, kernel: string, stage: Stage, at: Surroundings): string[] {
  return ["explain", `${file}:${kernel}`, "--pass", stage, ...given(at)];
}

/** The verdict of one kernel in full: findings, launches, assumptions and the facts that were used. */
export function verdict(file: string, kernel: string, at: Surroundings): string[] {
  return ["check", file, "--kernel", kernel, "--verbose", "--color", "never", ...given(at)];
}

/** A word as one types it into a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function given({ settings, isInWorkspace }: Surroundings): string[] {
  const set = Object.keys(settings).length === 0 ? [] : ["--settings", JSON.stringify(settings)];
  return isInWorkspace ? ["--workspace", ".", ...set] : set;
}

// The command lines of `cuda-lsp run`, `explain` and `check` for one kernel, with what the editor's settings say.

export interface Choices {
  readonly extraArgs: readonly string[];
  readonly compileCommands: string | undefined;
  readonly useHost: boolean;
  readonly warpLockstep: boolean;
  readonly wrapAround: boolean;
}

export const STAGES = ["ir", "events", "lockstep", "pairs", "conditions"] as const;
export type Stage = (typeof STAGES)[number];

/** `extra`: further arguments of the user, such as `--seeds 16`. */
export function run(file: string, kernel: string, choices: Choices, extra: readonly string[]): string[] {
  return ["run", `${file}:${kernel}`, "--color", "always", ...selection(choices), ...extra];
}

export function explain(file: string, kernel: string, stage: Stage, choices: Choices): string[] {
  return ["explain", `${file}:${kernel}`, "--pass", stage, ...selection(choices)];
}

/** The verdict of one kernel in full: findings, launches, assumptions and the facts that were used. */
export function verdict(file: string, kernel: string, choices: Choices): string[] {
  return ["check", file, "--kernel", kernel, "--verbose", "--color", "never", ...selection(choices)];
}

/** A word as one types it into a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function selection(choices: Choices): string[] {
  return [
    ...choices.extraArgs.flatMap((argument) => [`--extra-arg=${argument}`]),
    ...(choices.compileCommands ? ["-p", choices.compileCommands] : []),
    ...(choices.useHost ? [] : ["--no-host"]),
    ...(choices.warpLockstep ? ["--warp-lockstep"] : []),
    ...(choices.wrapAround ? ["--wrap-around"] : []),
  ];
}

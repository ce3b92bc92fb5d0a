// The kernels among which a command lets the user choose: those that the server's code lenses name, one by one also where
// several have the same name, and the names in a text that the server has not read yet.

import { kernelsIn } from "./kernels";

export interface Choice {
  /** The document to name to the command line. */
  readonly uri: string;
  /** As the command line finds it, and nothing else. */
  readonly kernel: string;
  /** As it is shown. */
  readonly label: string;
  /** From 0. */
  readonly line: number;
  /** In a few words; undefined where it is not known. */
  readonly verdict?: string;
}

/** A code lens of the protocol, as far as it counts here. */
export interface Lens {
  readonly range: { readonly start: { readonly line: number } };
  readonly command?: { readonly title: string; readonly command: string; readonly arguments?: readonly unknown[] };
}

const SHOWS = "cuda-lsp.showRaces";

/** `command`: whose arguments are meant. Launches come with the kernels that they launch, each kernel once. */
export function choicesOf(lenses: readonly Lens[], command: string, text: string, uri: string): Choice[] {
  const found = new Map<string, Choice>();
  let verdict: string | undefined;
  for (const lens of lenses) {
    const [where, kernel, label = kernel] = lens.command?.arguments ?? [];
    if (lens.command === undefined || typeof where !== "string" || typeof kernel !== "string" || typeof label !== "string") {
      continue;
    }
    // The lens with the verdict stands in front of the one that runs.
    verdict = lens.command.command === SHOWS ? lens.command.title : verdict;
    if (lens.command.command === command && !found.has(kernel)) {
      const prefix = `${plain(label)}: `;
      const said = verdict?.startsWith(prefix) ? verdict.slice(prefix.length) : verdict;
      found.set(kernel, { uri: where, kernel, label, line: lens.range.start.line, ...(said === undefined ? {} : { verdict: said }) });
    }
  }
  const known = new Set([...found.values()].map(({ label }) => plain(label)));
  for (const { name, start } of kernelsIn(text)) {
    if (!known.has(name)) {
      found.set(name, { uri, kernel: name, label: name, line: text.slice(0, start).split("\n").length - 1 });
    }
  }
  return [...found.values()].sort((a, b) => a.line - b.line);
}

/** The choice at a line: the last one that begins at or above it. */
export function choiceAt(choices: readonly Choice[], line: number): Choice | undefined {
  return choices.findLast((choice) => choice.line <= line);
}

function plain(label: string): string {
  return label.split("<")[0] ?? label;
}

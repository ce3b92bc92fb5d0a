// The names of the kernels in a text, for commands that ask which one is meant. It reads words and decides nothing: what a
// kernel is and does, the server says.

export interface Kernel {
  readonly name: string;
  /** Offset of `__global__`. */
  readonly start: number;
}

const NOT_A_NAME = new Set(["__launch_bounds__", "__cluster_dims__", "__block_size__", "__attribute__", "__declspec", "alignas", "requires"]);

/** The kernels in the order of the text, each name once, with the first place where it stands. */
export function kernelsIn(text: string): Kernel[] {
  const code = withoutComments(text);
  const found = new Map<string, Kernel>();
  for (const match of code.matchAll(/\b__global__\b/g)) {
    const name = nameAfter(code, match.index + match[0].length);
    if (name !== undefined && !found.has(name)) {
      found.set(name, { name, start: match.index });
    }
  }
  return [...found.values()];
}

/** The word in front of the first parenthesis that opens a parameter list; undefined where a statement ends before one. */
function nameAfter(code: string, from: number): string | undefined {
  const opening = /([A-Za-z_]\w*)\s*\(|[;{}]/g;
  opening.lastIndex = from;
  for (let match = opening.exec(code); match !== null; match = opening.exec(code)) {
    const word = match[1];
    if (word === undefined) {
      return undefined;
    }
    if (!NOT_A_NAME.has(word)) {
      return word;
    }
    opening.lastIndex = closing(code, match.index + match[0].length);
  }
  return undefined;
}

/** The offset behind the parenthesis that closes the one before `from`. */
function closing(code: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < code.length && depth > 0; at++) {
    depth += code[at] === "(" ? 1 : code[at] === ")" ? -1 : 0;
  }
  return at;
}

/** The text with blanks for comments and string literals, so that offsets stay. */
function withoutComments(text: string): string {
  const unseen = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'/g;
  return text.replace(unseen, (part) => part.replace(/[^\n]/g, " "));
}

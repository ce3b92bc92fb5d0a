// Which Python can carry the server's environment, and what a user is told when none can. What the interpreters say is
// given as text; nothing is executed here.

export const MINIMAL: readonly [number, number] = [3, 10];

/** A program that prints the version, the path, and whether environments can be made, as JSON. */
export const PROBE =
  "import importlib.util as u, json, sys; " +
  "print(json.dumps([list(sys.version_info[:3]), sys.executable, all(u.find_spec(m) for m in ('venv', 'ensurepip'))]))";

export interface Interpreter {
  readonly version: readonly [number, number, number];
  readonly executable: string;
  readonly makesEnvironments: boolean;
}

/** The commands that may be a Python, the likeliest first. `selected`: what the Python extension has chosen. */
export function commands(platform: NodeJS.Platform, selected: string | undefined): string[][] {
  const first = selected === undefined ? [] : [[selected]];
  if (platform === "win32") {
    return [...first, ["py", "-3"], ["python"], ["python3"]];
  }
  return [...first, ["python3"], ["python"], ...[14, 13, 12, 11, 10].map((minor) => [`python3.${minor}`])];
}

/** What a Python answered to `PROBE`; undefined when it was no such answer. */
export function readProbe(output: string): Interpreter | undefined {
  const line = output.trim().split("\n").at(-1) ?? "";
  try {
    const [version, executable, makesEnvironments] = JSON.parse(line) as unknown[];
    if (Array.isArray(version) && version.length === 3 && typeof executable === "string" && executable !== "") {
      const [major, minor, patch] = version.map(Number) as [number, number, number];
      return { version: [major, minor, patch], executable, makesEnvironments: makesEnvironments === true };
    }
  } catch {
    // Not an answer: whatever was started is no Python.
  }
  return undefined;
}

/** The first interpreter that can be used, or a sentence that says why there is none. */
export function choose(found: readonly Interpreter[], platform: NodeJS.Platform): Interpreter | string {
  const needed = MINIMAL.join(".");
  const recent = found.filter(isRecent);
  const usable = recent.find((each) => each.makesEnvironments);
  if (usable !== undefined) {
    return usable;
  }
  const incomplete = recent[0];
  if (incomplete !== undefined) {
    const hint = platform === "linux" ? " On Debian and Ubuntu: sudo apt install python3-venv." : "";
    return `Python ${incomplete.version.join(".")} (${incomplete.executable}) comes without venv or ensurepip, so no environment can be made with it.${hint}`;
  }
  const old = found[0];
  if (old !== undefined) {
    return `The cuda-lsp server needs Python ${needed} or newer, and the newest found is ${newest(found)}.`;
  }
  return `The cuda-lsp server needs Python ${needed} or newer, and no Python was found. Install one from python.org or with your system's package manager, then try again.`;
}

function isRecent(each: Interpreter): boolean {
  const [major, minor] = each.version;
  return major > MINIMAL[0] || (major === MINIMAL[0] && minor >= MINIMAL[1]);
}

function newest(found: readonly Interpreter[]): string {
  const best = [...found].sort((a, b) => b.version[0] - a.version[0] || b.version[1] - a.version[1] || b.version[2] - a.version[2])[0];
  return best === undefined ? "none" : `${best.version.join(".")} (${best.executable})`;
}

/** What a line of pip's output says about how far it has come; undefined when it says nothing. */
export function pipProgress(line: string): string | undefined {
  const text = line.trim();
  const collecting = /^Collecting (\S+?)(?:[<>=!~;\[ ].*)?$/.exec(text);
  if (collecting !== null) {
    return `looking for ${collecting[1]}`;
  }
  const downloading = /^(?:Downloading|Using cached) (\S+?)-\d\S*\.(?:whl|tar\.gz)(?:\.metadata)?(?: \((.+)\))?$/.exec(text);
  if (downloading !== null && !text.includes(".metadata")) {
    return `fetching ${(downloading[1] ?? "").replaceAll("_", "-")}${downloading[2] === undefined ? "" : ` (${downloading[2]})`}`;
  }
  return text.startsWith("Installing collected packages") ? "unpacking" : undefined;
}

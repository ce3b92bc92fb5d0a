// Which server to start. Takes what is known of the machine and the workspace, and gives a command; nothing is executed
// here. In a workspace that is not trusted its own folders are not looked at: whatever lies there may be anybody's program.

import * as path from "node:path";

export type Origin = "setting" | "python-environment" | "workspace" | "path" | "own";

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The setting `cudaLsp.server.path`; empty when it is not set. */
  readonly configured: string;
  /** The interpreter that the Python extension has selected, if there is one. */
  readonly python: string | undefined;
  /** Paths of the workspace folders, the first one first. */
  readonly folders: readonly string[];
  readonly isTrusted: boolean;
  /** The value of PATH. */
  readonly searchPath: string;
  /** The folder of the environment into which the extension installs. */
  readonly ownEnvironment: string;
  isFile(path: string): boolean;
}

export interface Found {
  readonly kind: "found";
  readonly command: string;
  readonly origin: Origin;
}

export interface Missing {
  readonly kind: "missing";
  /** Where `cudaLsp.server.path` points to, when that is no file; undefined when there simply is no server. */
  readonly configured: string | undefined;
}

/** The first server of: the setting, the selected Python environment, `.venv` and `venv` of the workspace, PATH, our own. */
export function findServer(at: Surroundings): Found | Missing {
  if (at.configured.trim() !== "") {
    const command = expanded(at.configured.trim(), at);
    return at.isFile(command) ? { kind: "found", command, origin: "setting" } : { kind: "missing", configured: command };
  }
  for (const [command, origin] of candidates(at)) {
    if (at.isFile(command)) {
      return { kind: "found", command, origin };
    }
  }
  return { kind: "missing", configured: undefined };
}

function* candidates(at: Surroundings): Iterable<[string, Origin]> {
  const join = at.platform === "win32" ? path.win32 : path.posix;
  const program = at.platform === "win32" ? "cuda-lsp.exe" : "cuda-lsp";
  if (at.isTrusted) {
    if (at.python !== undefined) {
      yield [join.join(join.dirname(at.python), program), "python-environment"];
    }
    for (const folder of at.folders) {
      for (const name of [".venv", "venv"]) {
        yield [join.join(folder, name, programsOf(at.platform), program), "workspace"];
      }
    }
  }
  for (const folder of at.searchPath.split(join.delimiter)) {
    // A relative entry means the folder that the editor was started in, which may be the workspace.
    if (join.isAbsolute(folder)) {
      yield [join.join(folder, program), "path"];
    }
  }
  yield [join.join(at.ownEnvironment, programsOf(at.platform), program), "own"];
}

/** The folder of an environment in which its programs lie. */
export function programsOf(platform: NodeJS.Platform): string {
  return platform === "win32" ? "Scripts" : "bin";
}

function expanded(written: string, at: Surroundings): string {
  const join = at.platform === "win32" ? path.win32 : path.posix;
  const folder = at.folders[0] ?? at.home;
  const text = written.replaceAll("${workspaceFolder}", folder).replaceAll("${userHome}", at.home).replace(/^~(?=$|[/\\])/, at.home);
  return join.isAbsolute(text) ? text : join.join(folder, text);
}

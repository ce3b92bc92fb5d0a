// Whether a server and this extension belong together. Versions are semantic ones: before 1.0 the minor number says what is
// compatible, from 1.0 on the major number does.

export type Relation = "fits" | "server-older" | "server-newer" | "unknown";

interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** The numbers of `1.2.3`, with or without what may follow them (`rc1`, `.dev0+g12ab`); undefined for anything else. */
export function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?![\d])/.exec(text.trim());
  if (match === null) {
    return undefined;
  }
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3] ?? 0) };
}

/** The version in the answer to `cuda-lsp --version`; undefined when it is not that program which answered. */
export function versionOf(output: string): string | undefined {
  return /^cuda-lsp (\d+\.\d+\S*)\s*$/m.exec(output)?.[1];
}

/** How a server's version stands to the extension's. */
export function relation(server: string | undefined, extension: string): Relation {
  const theirs = server === undefined ? undefined : parseVersion(server);
  const ours = parseVersion(extension);
  if (theirs === undefined || ours === undefined) {
    return "unknown";
  }
  if (theirs.major !== ours.major) {
    return theirs.major < ours.major ? "server-older" : "server-newer";
  }
  if (ours.major > 0 || theirs.minor === ours.minor) {
    return "fits";
  }
  return theirs.minor < ours.minor ? "server-older" : "server-newer";
}

/** What the user is told about a server that does not fit; undefined where there is nothing to tell. */
export function mismatch(server: string | undefined, extension: string, command: string): string | undefined {
  switch (relation(server, extension)) {
    case "fits":
      return undefined;
    case "server-older":
      return `The cuda-lsp server (${command}) has version ${server}, which is older than this extension, ${extension}. Update the server.`;
    case "server-newer":
      return `The cuda-lsp server (${command}) has version ${server}, which is newer than this extension, ${extension}. Update the extension.`;
    case "unknown":
      return `The cuda-lsp server (${command}) does not tell a version that this extension, ${extension}, can compare with.`;
  }
}

// The server's settings as this editor knows them: `cudaLsp.<name>` is the server's `<name>`. Only what somebody has set is
// passed on: the defaults are the server's to know, and a project's `.cuda-lsp.toml` is stronger than any editor.

/** Settings that are this extension's own business; every other one of its section is the server's. */
const OWN = ["server", "run"];

/** What VS Code tells about one setting, see `WorkspaceConfiguration.inspect`. */
export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

export interface Configuration {
  /** The value that holds, all places merged. */
  get(name: string): unknown;
  inspect(name: string): Inspected | undefined;
}

/** The names of the server's settings among the properties of package.json, without their section. */
export function serverNames(properties: Readonly<Record<string, unknown>>, section: string): string[] {
  const prefix = `${section}.`;
  return Object.keys(properties)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((name) => !OWN.includes(name.split(".")[0] ?? ""));
}

/** What the server is answered when it asks for its settings. */
export function serverSettings(names: readonly string[], configuration: Configuration): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const name of names) {
    if (isSet(configuration.inspect(name))) {
      const value = configuration.get(name);
      // What is not given, in a field of the settings page.
      settings[name] = value === "" ? null : value;
    }
  }
  return settings;
}

function isSet(found: Inspected | undefined): boolean {
  return [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((value) => value !== undefined);
}

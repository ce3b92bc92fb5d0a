// The interpreter that the Python extension has selected, where that extension is installed.

import * as vscode from "vscode";

/** The part of that extension's interface that is used here. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(path: unknown): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
  };
}

export async function selectedPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (extension === undefined) {
    return undefined;
  }
  try {
    const { environments } = await extension.activate();
    const chosen = environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    return chosen === undefined ? undefined : (await environments?.resolveEnvironment(chosen))?.executable.uri?.fsPath;
  } catch {
    // Another extension's trouble is not ours: the other places are searched.
    return undefined;
  }
}

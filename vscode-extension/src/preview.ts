// Shows what a fix would change, before it changes anything: the file beside the file with the fix, as a diff with a button
// that applies it.

import * as vscode from "vscode";
import { CodeActionKind, CodeActionRequest, CodeActionResolveRequest, CodeActionTriggerKind, type CodeAction, type LanguageClient } from "vscode-languageclient/node";

const SCHEME = "cuda-lsp-fix";

interface Shown {
  readonly text: string;
  readonly edit: vscode.WorkspaceEdit;
}

export class FixPreview implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly shown = new Map<string, Shown>();
  private readonly disposables: vscode.Disposable[];
  private number = 0;

  constructor() {
    this.disposables = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.shown.delete(document.uri.toString())),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString())?.text ?? "";
  }

  /** Let the user choose among the fixes at the cursor, or of the whole file where there is none, and show the one. */
  async preview(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    const { document, selection } = editor;
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const line = new vscode.Range(selection.start.line, 0, selection.end.line, document.lineAt(selection.end.line).text.length);
    let found = await fixes(client, document, line);
    if (found.length === 0) {
      found = await fixes(client, document, whole);
    }
    if (found.length === 0) {
      void vscode.window.showInformationMessage("cuda-lsp: no proved fix for this file. Hover over a finding to see why.");
      return;
    }
    const chosen = found.length === 1 ? found[0] : await choose(found);
    if (chosen !== undefined) {
      await this.show(client, document, chosen);
    }
  }

  private async show(client: LanguageClient, document: vscode.TextDocument, action: CodeAction): Promise<void> {
    const resolved = action.edit === undefined ? await client.sendRequest(CodeActionResolveRequest.type, action) : action;
    const edit = await client.protocol2CodeConverter.asWorkspaceEdit(resolved.edit);
    const [first] = edit?.entries() ?? [];
    if (edit === undefined || first === undefined) {
      void vscode.window.showInformationMessage("cuda-lsp: this fix changes nothing.");
      return;
    }
    const [uri, edits] = first;
    const before = uri.toString() === document.uri.toString() ? document : await vscode.workspace.openTextDocument(uri);
    const after = uri.with({ scheme: SCHEME, query: String(++this.number), fragment: "" });
    this.shown.set(after.toString(), { text: applied(before, edits), edit });
    // What the fix is for stands behind a dash, and the tab is narrow.
    const title = `Preview: ${action.title.split(" — ")[0] ?? action.title}`;
    await vscode.commands.executeCommand("vscode.diff", uri, after, title, { preview: true });
  }

  /** Apply the fix that the active diff shows. */
  async apply(uri: vscode.Uri | undefined): Promise<void> {
    const where = uri ?? vscode.window.activeTextEditor?.document.uri;
    const shown = where === undefined ? undefined : this.shown.get(where.toString());
    if (shown === undefined) {
      void vscode.window.showInformationMessage("cuda-lsp: preview a fix first.");
      return;
    }
    if (!(await vscode.workspace.applyEdit(shown.edit))) {
      void vscode.window.showWarningMessage("cuda-lsp: the file has changed since this fix was proved. Save it to get a new one.");
      return;
    }
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    const [target] = shown.edit.entries();
    if (target !== undefined) {
      await vscode.window.showTextDocument(target[0], { selection: target[1][0]?.range ?? new vscode.Range(0, 0, 0, 0) });
    }
  }

  dispose(): void {
    this.disposables.forEach((each) => each.dispose());
  }
}

/** Between two questions for repairs that are still being looked for, and how long they are asked for: milliseconds. */
const PAUSE = 100;
const PATIENCE = 3000;

async function fixes(client: LanguageClient, document: vscode.TextDocument, range: vscode.Range): Promise<CodeAction[]> {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const answer = await client.sendRequest(CodeActionRequest.type, {
      textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
      range: client.code2ProtocolConverter.asRange(range),
      context: { diagnostics: [], only: [CodeActionKind.QuickFix], triggerKind: CodeActionTriggerKind.Invoked },
    });
    // Kinds below this one, such as a comment that suppresses, are no fixes.
    const found = (answer ?? []).filter((each): each is CodeAction => "kind" in each && each.kind === CodeActionKind.QuickFix && each.command === undefined);
    if (Date.now() > until || !found.some(isPending)) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** Whether an action stands for a repair that is verified when it is chosen. */
function isPending(action: CodeAction): boolean {
  return (action.data as { pending?: boolean } | undefined)?.pending === true;
}

async function choose(found: readonly CodeAction[]): Promise<CodeAction | undefined> {
  const items = found.map((action) => ({ label: action.title, action }));
  return (await vscode.window.showQuickPick(items, { title: "Fixes that were proved", placeHolder: "Which one to preview" }))?.action;
}

/** The text of a document with edits that do not overlap. */
function applied(document: vscode.TextDocument, edits: readonly vscode.TextEdit[]): string {
  let text = document.getText();
  const backwards = edits
    .map((edit) => ({ start: document.offsetAt(edit.range.start), end: document.offsetAt(edit.range.end), text: edit.newText }))
    .reverse()
    .sort((a, b) => b.start - a.start);
  for (const edit of backwards) {
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  }
  return text;
}

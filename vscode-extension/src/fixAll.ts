// Applies all fixes of a file that were proved together, and says what was done.

import * as vscode from "vscode";
import { type CodeAction, CodeActionRequest, CodeActionResolveRequest, CodeActionTriggerKind, type LanguageClient } from "vscode-languageclient/node";

const KIND = "source.fixAll.cuda-lsp";
const SAID_MS = 8_000;

export async function fixAll(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
  const { document } = editor;
  const progress = { location: vscode.ProgressLocation.Window, title: "cuda-lsp: proving fixes" };
  const action = await vscode.window.withProgress(progress, () => found(client, document));
  const edit = await client.protocol2CodeConverter.asWorkspaceEdit(action?.edit);
  if (action === undefined || edit === undefined || edit.size === 0) {
    void vscode.window.showInformationMessage("cuda-lsp: there is no proved fix to apply in this file. Hover over a finding to see why.");
  } else if (await vscode.workspace.applyEdit(edit)) {
    vscode.window.setStatusBarMessage("$(pass) cuda-lsp: all proved fixes are applied; save the file to have it checked", SAID_MS);
  } else {
    void vscode.window.showWarningMessage("cuda-lsp: the file has changed since these fixes were proved. Try again.");
  }
}

async function found(client: LanguageClient, document: vscode.TextDocument): Promise<CodeAction | undefined> {
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const answer = await client.sendRequest(CodeActionRequest.type, {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
    range: client.code2ProtocolConverter.asRange(whole),
    context: { diagnostics: [], only: [KIND], triggerKind: CodeActionTriggerKind.Invoked },
  });
  const action = (answer ?? []).find((each): each is CodeAction => "kind" in each && each.kind === KIND);
  return action === undefined || action.edit !== undefined ? action : client.sendRequest(CodeActionResolveRequest.type, action);
}

// Has the server check every CUDA source of the workspace, with progress that can be cancelled.

import * as vscode from "vscode";
import { ExecuteCommandRequest, WorkDoneProgress } from "vscode-languageclient/node";

import type { Server } from "./server";

const COMMAND = "cuda-lsp.checkAll";
let number = 0;

export async function checkWorkspace(server: Server): Promise<void> {
  await server.ensure();
  const client = server.running;
  if (client === undefined) {
    return;
  }
  const known = client.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
  if (!known.includes(COMMAND)) {
    void vscode.window.showInformationMessage("cuda-lsp: this server checks open files only. Update the server to check the workspace.");
    return;
  }
  const options = { location: vscode.ProgressLocation.Notification, title: "cuda-lsp: checking the workspace", cancellable: true };
  const checked = await vscode.window.withProgress(options, async (progress, cancellation) => {
    const workDoneToken = `cuda-lsp-extension/workspace/${++number}`;
    let share = 0;
    const reports = client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
      if (value.kind !== "end") {
        const now = value.percentage ?? share;
        progress.report({ increment: now - share, ...(value.message === undefined ? {} : { message: value.message }) });
        share = now;
      }
    });
    try {
      return (await client.sendRequest(ExecuteCommandRequest.type, { command: COMMAND, workDoneToken }, cancellation)) as unknown;
    } catch (error) {
      if (!cancellation.isCancellationRequested) {
        void vscode.window.showErrorMessage(`cuda-lsp: ${error instanceof Error ? error.message : String(error)}`);
      }
      return undefined;
    } finally {
      reports.dispose();
    }
  });
  if (typeof checked === "number") {
    const files = checked === 1 ? "1 file was" : `${checked} files were`;
    const choice = await vscode.window.showInformationMessage(`cuda-lsp: ${files} checked.`, "Show Problems");
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.actions.view.problems");
    }
  }
}

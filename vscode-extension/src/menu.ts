// The menu behind the status bar item.

import * as vscode from "vscode";

import { activeCuda } from "./documents";
import type { Server } from "./server";

export async function showMenu(server: Server): Promise<void> {
  const isRunning = server.running !== undefined;
  const isCudaFile = activeCuda() !== undefined;
  const items: (vscode.QuickPickItem & { command: string })[] = [
    ...(isRunning && isCudaFile
      ? [
          { label: "$(lightbulb) Preview a fix", command: "cuda-lsp.previewFix" },
          { label: "$(graph) Show races", command: "cuda-lsp.showRaces" },
          { label: "$(question) Explain a kernel", command: "cuda-lsp.explainKernel" },
        ]
      : []),
    ...(isRunning && isCudaFile && vscode.workspace.isTrusted
      ? [{ label: "$(play) Run a kernel under the race detector", command: "cuda-lsp.run" }]
      : []),
    ...(isRunning ? [{ label: "$(checklist) Check the workspace", command: "cuda-lsp.checkWorkspace" }] : []),
    ...(server.program === undefined ? [{ label: "$(cloud-download) Install the server", command: "cuda-lsp.installServer" }] : []),
    { label: isRunning ? "$(debug-restart) Restart the server" : "$(play) Start the server", command: "cuda-lsp.restartServer" },
    { label: "$(output) Show the log", command: "cuda-lsp.showLog" },
    { label: "$(gear) Settings", command: "cuda-lsp.openSettings" },
    { label: "$(book) Get started", command: "cuda-lsp.openWalkthrough" },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: "cuda-lsp" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

// The commands about one kernel that run the command line: under the race detector, and the explanations.

import * as path from "node:path";
import * as vscode from "vscode";

import { type Choices, explain, run, STAGES, type Stage, verdict } from "./commandLine";
import { activeCuda } from "./documents";
import { kernelAt, kernelsIn } from "./kernels";
import { runToEnd } from "./process";
import { RunTerminal } from "./runTerminal";
import { type Server, SETTINGS } from "./server";

const SCHEME = "cuda-lsp-report";

const STAGE_TITLES: Record<Stage, string> = {
  ir: "the program of one thread, calls inlined",
  events: "its accesses and barriers under their conditions",
  lockstep: "its blocks in lock-step order",
  pairs: "the pairs of accesses that may collide",
  conditions: "the questions asked of the solvers",
};

interface Target {
  readonly document: vscode.TextDocument;
  readonly kernel: string;
}

export class KernelCommands implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly reports = new Map<string, string>();
  private readonly terminals = new Map<string, vscode.Terminal>();
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.disposables = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.reports.delete(document.uri.toString())),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.reports.get(uri.toString()) ?? "";
  }

  /** Execute a kernel under the race detector, in a terminal. Executes the user's code: never without trust. */
  async run(uri: string | undefined, kernel: string | undefined): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      const text = "cuda-lsp: kernels are executed only in trusted workspaces; here they are checked statically.";
      if ((await vscode.window.showWarningMessage(text, "Manage Trust")) !== undefined) {
        await vscode.commands.executeCommand("workbench.trust.manage");
      }
      return;
    }
    const target = await this.target(uri, kernel, "Which kernel to run under the race detector");
    const program = this.program();
    if (target === undefined || program === undefined) {
      return;
    }
    const extra = vscode.workspace.getConfiguration(SETTINGS, target.document).get<string[]>("run.arguments", []);
    const { fsPath } = target.document.uri;
    const folder = vscode.workspace.getWorkspaceFolder(target.document.uri)?.uri.fsPath ?? path.dirname(fsPath);
    const words = run(path.relative(folder, fsPath), target.kernel, choices(target.document), extra);
    const name = `run ${target.kernel}`;
    // One terminal per kernel: the newest run replaces the one before it.
    this.terminals.get(name)?.dispose();
    const terminal = vscode.window.createTerminal({ name, pty: new RunTerminal(program, words, folder), iconPath: new vscode.ThemeIcon("beaker") });
    this.terminals.set(name, terminal);
    terminal.show(true);
  }

  /** Show the verdict on a kernel in full, or one stage of its analysis. */
  async explain(uri: string | undefined, kernel: string | undefined): Promise<void> {
    const target = await this.target(uri, kernel, "Which kernel to explain");
    const program = this.program();
    if (target === undefined || program === undefined) {
      return;
    }
    const items: (vscode.QuickPickItem & { stage?: Stage })[] = [
      { label: "verdict", description: "findings, launches, assumptions and host facts" },
      ...STAGES.map((stage) => ({ label: stage, description: STAGE_TITLES[stage], stage })),
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: `Explain ${target.kernel}`, matchOnDescription: true });
    if (chosen === undefined) {
      return;
    }
    const file = target.document.uri.fsPath;
    const settings = choices(target.document);
    const words = chosen.stage === undefined ? verdict(file, target.kernel, settings) : explain(file, target.kernel, chosen.stage, settings);
    const progress = { location: vscode.ProgressLocation.Notification, title: `cuda-lsp: explaining ${target.kernel}`, cancellable: true };
    const text = await vscode.window.withProgress(progress, async (_, cancellation) => {
      const abort = new AbortController();
      cancellation.onCancellationRequested(() => abort.abort());
      const ended = await runToEnd(program, words, { signal: abort.signal, folder: path.dirname(file) });
      return abort.signal.aborted ? undefined : ended.output.trim() === "" ? ended.errors : ended.output;
    });
    if (text !== undefined) {
      const report = vscode.Uri.from({ scheme: SCHEME, path: `/${target.kernel} (${chosen.label}).txt`, query: String(Date.now()) });
      this.reports.set(report.toString(), text);
      const shown = await vscode.workspace.openTextDocument(report);
      await vscode.window.showTextDocument(shown, { viewColumn: vscode.ViewColumn.Beside, preview: true });
    }
  }

  /** The kernel that is meant: the given one, the one at the cursor, or one that the user picks. Its file is saved. */
  private async target(uri: string | undefined, kernel: string | undefined, question: string): Promise<Target | undefined> {
    const document = uri === undefined ? activeCuda() : await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    if (document === undefined) {
      void vscode.window.showInformationMessage("cuda-lsp: open a CUDA file first.");
      return undefined;
    }
    const chosen = kernel ?? (await pick(document, question));
    if (chosen === undefined) {
      return undefined;
    }
    if ((document.isDirty || document.isUntitled) && !(await document.save())) {
      void vscode.window.showInformationMessage("cuda-lsp: the file has to be saved first.");
      return undefined;
    }
    return { document, kernel: chosen };
  }

  private program(): string | undefined {
    if (this.server.program === undefined) {
      void vscode.window.showWarningMessage("cuda-lsp: there is no server yet.");
    }
    return this.server.program;
  }

  dispose(): void {
    this.disposables.forEach((each) => each.dispose());
  }
}

async function pick(document: vscode.TextDocument, question: string): Promise<string | undefined> {
  const text = document.getText();
  const found = kernelsIn(text);
  const editor = vscode.window.activeTextEditor;
  const here = editor?.document === document ? kernelAt(text, document.offsetAt(editor.selection.active)) : undefined;
  if (found.length === 0) {
    void vscode.window.showInformationMessage("cuda-lsp: no kernel is defined in this file.");
    return undefined;
  }
  if (found.length === 1) {
    return found[0]?.name;
  }
  const items = found.map(({ name, start }) => {
    const line = document.positionAt(start).line + 1;
    return { label: name, description: name === here ? `line ${line}, at the cursor` : `line ${line}` };
  });
  items.sort((a, b) => Number(b.label === here) - Number(a.label === here));
  return (await vscode.window.showQuickPick(items, { title: question }))?.label;
}

function choices(document: vscode.TextDocument): Choices {
  const settings = vscode.workspace.getConfiguration(SETTINGS, document);
  return {
    extraArgs: settings.get<string[]>("extraArgs", []),
    compileCommands: settings.get<string | null>("compileCommands") ?? undefined,
    useHost: settings.get<boolean>("useHost", true),
    warpLockstep: settings.get<boolean>("warpLockstep", false),
    wrapAround: settings.get<boolean>("wrapAround", false),
  };
}

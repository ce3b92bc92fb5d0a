// The commands about one kernel that run the command line: under the race detector, and the explanations.

import * as path from "node:path";
import * as vscode from "vscode";
import { CodeLensRequest } from "vscode-languageclient/node";

import { explain, run, STAGES, type Stage, type Surroundings, verdict } from "./commandLine";
import { activeCuda } from "./documents";
import { type Choice, choiceAt, choicesOf } from "./kernelChoices";
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
  /** As the command line finds it. */
  readonly kernel: string;
  /** As it is shown. */
  readonly label: string;
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
  async run(uri: string | undefined, kernel: string | undefined, label: string | undefined): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      const text = "cuda-lsp: kernels are executed only in trusted workspaces; here they are checked statically.";
      if ((await vscode.window.showWarningMessage(text, "Manage Trust")) !== undefined) {
        await vscode.commands.executeCommand("workbench.trust.manage");
      }
      return;
    }
    const target = await this.target(uri, kernel, label, "cuda-lsp.run", "Which kernel to run under the race detector");
    const program = this.program();
    if (target === undefined || program === undefined) {
      return;
    }
    const extra = vscode.workspace.getConfiguration(SETTINGS, target.document).get<string[]>("run.arguments", []);
    const { fsPath } = target.document.uri;
    const { folder, ...at } = this.around(target.document);
    const words = run(path.relative(folder, fsPath), target.kernel, at, extra);
    const name = `run ${target.label}`;
    // One terminal per kernel: the newest run replaces the one before it.
    const key = `${target.document.uri.toString()} ${target.kernel}`;
    this.terminals.get(key)?.dispose();
    const terminal = vscode.window.createTerminal({ name, pty: new RunTerminal(program, words, folder), iconPath: new vscode.ThemeIcon("beaker") });
    this.terminals.set(key, terminal);
    terminal.show(true);
  }

  /** Show the verdict on a kernel in full, or one stage of its analysis. */
  async explain(uri: string | undefined, kernel: string | undefined): Promise<void> {
    const target = await this.target(uri, kernel, undefined, "cuda-lsp.showRaces", "Which kernel to explain");
    const program = this.program();
    if (target === undefined || program === undefined) {
      return;
    }
    const items: (vscode.QuickPickItem & { stage?: Stage })[] = [
      { label: "verdict", description: "findings, launches, assumptions and host facts" },
      ...STAGES.map((stage) => ({ label: stage, description: STAGE_TITLES[stage], stage })),
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: `Explain ${target.label}`, matchOnDescription: true });
    if (chosen === undefined) {
      return;
    }
    const file = target.document.uri.fsPath;
    const { folder, ...at } = this.around(target.document);
    const words = chosen.stage === undefined ? verdict(file, target.kernel, at) : explain(file, target.kernel, chosen.stage, at);
    const progress = { location: vscode.ProgressLocation.Notification, title: `cuda-lsp: explaining ${target.label}`, cancellable: true };
    const text = await vscode.window.withProgress(progress, async (_, cancellation) => {
      const abort = new AbortController();
      cancellation.onCancellationRequested(() => abort.abort());
      const ended = await runToEnd(program, words, { signal: abort.signal, folder });
      return abort.signal.aborted ? undefined : ended.output.trim() === "" ? ended.errors : ended.output;
    });
    if (text !== undefined) {
      const report = vscode.Uri.from({ scheme: SCHEME, path: `/${target.label} (${chosen.label}).txt`, query: String(Date.now()) });
      this.reports.set(report.toString(), text);
      const shown = await vscode.workspace.openTextDocument(report);
      await vscode.window.showTextDocument(shown, { viewColumn: vscode.ViewColumn.Beside, preview: true });
    }
  }

  /** The kernel that is meant: the given one, the only one, or one that the user picks. Its file is saved. `command`: whose
   * lenses name the kernels. */
  private async target(
    uri: string | undefined,
    kernel: string | undefined,
    label: string | undefined,
    command: string,
    question: string,
  ): Promise<Target | undefined> {
    const open = (text: string): Thenable<vscode.TextDocument> => vscode.workspace.openTextDocument(vscode.Uri.parse(text));
    const here = uri === undefined ? activeCuda() : await open(uri);
    if (here === undefined) {
      void vscode.window.showInformationMessage("cuda-lsp: open a CUDA file first.");
      return undefined;
    }
    const chosen = kernel === undefined ? await this.pick(here, command, question) : { uri: here.uri.toString(), kernel, label: label ?? kernel };
    if (chosen === undefined) {
      return undefined;
    }
    const document = chosen.uri === here.uri.toString() ? here : await open(chosen.uri);
    if ((document.isDirty || document.isUntitled) && !(await document.save())) {
      void vscode.window.showInformationMessage("cuda-lsp: the file has to be saved first.");
      return undefined;
    }
    return { document, kernel: chosen.kernel, label: chosen.label };
  }

  /** The kernel that the user picks; the one at the cursor is the first. */
  private async pick(document: vscode.TextDocument, command: string, question: string): Promise<Choice | undefined> {
    const client = this.server.running;
    const textDocument = { uri: document.uri.toString() };
    // What the server has not read yet, or does not answer now, is read from the text.
    const lenses = await client?.sendRequest(CodeLensRequest.type, { textDocument }).catch(() => null);
    const found = choicesOf(lenses ?? [], command, document.getText(), textDocument.uri);
    if (found.length === 0) {
      void vscode.window.showInformationMessage("cuda-lsp: no kernel is defined in this file.");
      return undefined;
    }
    if (found.length === 1) {
      return found[0];
    }
    const editor = vscode.window.activeTextEditor;
    const here = editor?.document === document ? choiceAt(found, editor.selection.active.line) : undefined;
    const items = found.map((choice) => {
      const said = [`line ${choice.line + 1}`, ...(choice === here ? ["at the cursor"] : []), ...(choice.verdict === undefined ? [] : [choice.verdict])];
      return { label: choice.label, description: said.join(", "), choice };
    });
    items.sort((a, b) => Number(b.choice === here) - Number(a.choice === here));
    return (await vscode.window.showQuickPick(items, { title: question, matchOnDescription: true }))?.choice;
  }

  /** Where a command about a file is started, and what it is told of the workspace. */
  private around({ uri }: vscode.TextDocument): Surroundings & { readonly folder: string } {
    const workspace = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
    return { folder: workspace ?? path.dirname(uri.fsPath), settings: this.server.settingsOf(uri), isInWorkspace: workspace !== undefined };
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

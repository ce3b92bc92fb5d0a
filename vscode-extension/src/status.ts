// The status bar item, and the menu behind it.

import * as vscode from "vscode";

import { type Health, shown } from "./health";
import { isCuda } from "./documents";

const COLORS = {
  normal: undefined,
  warning: new vscode.ThemeColor("statusBarItem.warningBackground"),
  error: new vscode.ThemeColor("statusBarItem.errorBackground"),
};

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("cuda-lsp.status", vscode.StatusBarAlignment.Left, 10);
  private readonly editors = vscode.window.onDidChangeVisibleTextEditors(() => this.reveal());
  private health: Health = { kind: "idle" };

  constructor() {
    this.item.name = "cuda-lsp";
    this.item.command = "cuda-lsp.menu";
    this.show(this.health);
  }

  /** `program`: the server that is running or was tried, for the tooltip. */
  show(health: Health, program?: string): void {
    this.health = health;
    const { text, sentence, spoken, level } = shown(health);
    this.item.text = text;
    this.item.backgroundColor = COLORS[level];
    this.item.accessibilityInformation = { label: spoken, role: "button" };
    const tooltip = new vscode.MarkdownString(undefined, true);
    tooltip.appendText(sentence);
    if (program !== undefined) {
      tooltip.appendMarkdown("\n\n").appendText(program);
    }
    this.item.tooltip = tooltip;
    this.reveal();
  }

  /** While a CUDA file is seen, and wherever something is wrong or going on. */
  private reveal(): void {
    const isSeen = vscode.window.visibleTextEditors.some((editor) => isCuda(editor.document));
    const isBusy = this.health.kind === "running" && this.health.work.length > 0;
    if (isSeen || isBusy || !["idle", "running"].includes(this.health.kind)) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }

  dispose(): void {
    this.editors.dispose();
    this.item.dispose();
  }
}

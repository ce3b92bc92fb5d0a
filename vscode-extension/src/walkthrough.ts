// Ticks the steps of the walkthrough. VS Code notes what happens only from when it has read the walkthrough, which may be
// when it is opened: a context key that is true by then, or a command that was used before, never ticks its step. So what was
// done is remembered here, and told once more, under keys of its own, when the walkthrough is open.

import * as vscode from "vscode";

export type Step = "server" | "squiggle" | "races" | "fix" | "run" | "workspace";

/** How long VS Code may take to read the walkthrough once it is shown. */
const READ_MS = 2_000;

export class Walkthrough implements vscode.Disposable {
  private readonly done = new Set<Step>();
  private told = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly id: string) {}

  note(step: Step): void {
    if (!this.done.has(step)) {
      this.done.add(step);
      if (this.told) {
        this.tell(step);
      }
    }
  }

  async open(): Promise<void> {
    await vscode.commands.executeCommand("workbench.action.openWalkthrough", this.id, false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.told = true;
      this.done.forEach((step) => this.tell(step));
    }, READ_MS);
  }

  private tell(step: Step): void {
    void vscode.commands.executeCommand("setContext", `cudaLsp.walkthrough.${step}`, true);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}

// A terminal that shows one program at work and stays when it has ended, so that its output can be read. Control+C or
// closing the terminal ends the program.

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";

import { quoted } from "./commandLine";

const INTERRUPT = "\x03";

export class RunTerminal implements vscode.Pseudoterminal, vscode.Disposable {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly closed = new vscode.EventEmitter<void>();
  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;
  private child: ChildProcess | undefined;

  constructor(
    private readonly program: string,
    private readonly words: readonly string[],
    private readonly folder: string,
  ) {}

  open(): void {
    this.write(`\x1b[2mcuda-lsp ${this.words.map(quoted).join(" ")}\x1b[0m\n\n`);
    const child = spawn(this.program, this.words, {
      cwd: this.folder,
      env: { ...process.env, PYTHONIOENCODING: "utf-8" },
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf-8").on("data", (text: string) => this.write(text));
    }
    child.on("error", (error) => this.write(`${error.message}\n`));
    child.on("close", (_code, signal) => {
      this.child = undefined;
      if (signal !== null) {
        this.write(`\nended by ${signal}\n`);
      }
    });
  }

  handleInput(data: string): void {
    if (data === INTERRUPT) {
      this.child?.kill();
    }
  }

  close(): void {
    this.child?.kill();
  }

  private write(text: string): void {
    this.written.fire(text.replace(/\r?\n/g, "\r\n"));
  }

  dispose(): void {
    this.close();
    this.written.dispose();
    this.closed.dispose();
  }
}

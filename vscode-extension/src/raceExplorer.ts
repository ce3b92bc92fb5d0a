// The page on which the server draws the races of a file, in a panel of the editor.

import * as vscode from "vscode";
import { type LanguageClient, LSPErrorCodes, ErrorCodes, ResponseError } from "vscode-languageclient/node";

import { nonce, pageOf, wishOf, withPolicy } from "./page";

const REQUEST = "cudaLsp/raceExplorer";
const REFRESH_MS = 400;

export class RaceExplorer implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: { uri: string; kernel: string | undefined; html: string } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly watch: vscode.Disposable;

  /** `client` gives the running server; `run` runs a kernel under the race detector. */
  constructor(
    private readonly client: () => LanguageClient | undefined,
    private readonly run: (uri: string, kernel: string) => Promise<void>,
  ) {
    this.watch = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      if (this.shown !== undefined && uris.some((uri) => uri.toString() === this.shown?.uri)) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.refresh(), REFRESH_MS);
      }
    });
  }

  /** Show the races of a kernel, or of a whole file. `label`: the kernel's name in the title. */
  async show(uri: string, kernel: string | undefined, label = kernel): Promise<void> {
    const html = await this.page(uri, kernel);
    if (html === undefined) {
      return;
    }
    this.panel ??= this.open();
    this.panel.title = `Races: ${label ?? vscode.Uri.parse(uri).path.split("/").at(-1) ?? ""}`;
    this.render(uri, kernel, html);
    this.panel.reveal(undefined, false);
  }

  private async page(uri: string, kernel: string | undefined): Promise<string | undefined> {
    const client = this.client();
    if (client === undefined) {
      void vscode.window.showWarningMessage("cuda-lsp: the server is not running.");
      return undefined;
    }
    try {
      const html = pageOf(await client.sendRequest<unknown>(REQUEST, kernel === undefined ? { uri } : { uri, kernel }));
      if (html !== undefined) {
        return html;
      }
      void vscode.window.showInformationMessage("cuda-lsp: there is nothing to show for this file yet. It is checked when it is saved.");
    } catch (error) {
      if (error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound) {
        void vscode.window.showInformationMessage("cuda-lsp: this server has no race explorer. Update the server to use it.");
      } else if (!(error instanceof ResponseError && error.code === LSPErrorCodes.RequestCancelled)) {
        void vscode.window.showWarningMessage(`cuda-lsp: the races could not be shown: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return undefined;
  }

  private open(): vscode.WebviewPanel {
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
    // Colours come as the variables that VS Code defines on every page of a panel (`--vscode-…`).
    const panel = vscode.window.createWebviewPanel("cuda-lsp.races", "Races", where, {
      enableScripts: true,
      localResourceRoots: [],
      enableFindWidget: true,
      retainContextWhenHidden: true,
    });
    panel.webview.onDidReceiveMessage((message: unknown) => void this.grant(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = undefined;
    });
    return panel;
  }

  private render(uri: string, kernel: string | undefined, html: string): void {
    if (this.panel !== undefined && html !== this.shown?.html) {
      this.panel.webview.html = withPolicy(html, nonce());
    }
    this.shown = { uri, kernel, html };
  }

  /** What is shown follows the checks; a failure leaves the page as it is. */
  private async refresh(): Promise<void> {
    const { shown } = this;
    const client = this.client();
    if (shown === undefined || client === undefined || this.panel === undefined) {
      return;
    }
    const { uri, kernel } = shown;
    const answer = await client.sendRequest<unknown>(REQUEST, kernel === undefined ? { uri } : { uri, kernel }).catch(() => undefined);
    const html = pageOf(answer);
    if (html !== undefined && this.shown === shown) {
      this.render(uri, kernel, html);
    }
  }

  private async grant(message: unknown): Promise<void> {
    const wish = this.shown === undefined ? undefined : wishOf(message, this.shown.uri);
    if (wish?.type === "run") {
      await this.run(wish.uri, wish.kernel);
    } else if (wish !== undefined) {
      const at = new vscode.Position(wish.line, wish.character);
      const options = { viewColumn: vscode.ViewColumn.One, selection: new vscode.Range(at, at) };
      await vscode.window.showTextDocument(vscode.Uri.parse(wish.uri), options);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.watch.dispose();
    this.panel?.dispose();
  }
}

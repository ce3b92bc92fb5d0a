// What VS Code starts: makes the parts, registers the commands, and starts the server when a CUDA file is opened.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { checkWorkspace } from "./checkWorkspace";
import { activeCuda, isCuda } from "./documents";
import { fixAll } from "./fixAll";
import { KernelCommands } from "./kernelCommands";
import { showMenu } from "./menu";
import { FixPreview } from "./preview";
import { RaceExplorer } from "./raceExplorer";
import { SECTION, Server, SETTINGS } from "./server";
import { StatusBar } from "./status";
import { type Step, Walkthrough } from "./walkthrough";

const SETTLED_MS = 1_000;
/** The steps of the walkthrough that a command is. */
const STEPS: Readonly<Record<string, Step>> = {
  "cuda-lsp.showRaces": "races",
  "cuda-lsp.previewFix": "fix",
  "cuda-lsp.run": "run",
  "cuda-lsp.checkWorkspace": "workspace",
};
let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("cuda-lsp", { log: true });
  const status = new StatusBar();
  const started = new Server(context, log, status);
  server = started;
  const preview = new FixPreview();
  const kernels = new KernelCommands(started);
  const explorer = new RaceExplorer(
    () => started.running,
    (uri, kernel) => kernels.run(uri, kernel, undefined),
  );
  const walkthrough = new Walkthrough(`${context.extension.id}#start`);
  context.subscriptions.push(log, status, started, preview, explorer, kernels, walkthrough);

  const commands: Record<string, (...given: never[]) => unknown> = {
    "cuda-lsp.menu": () => showMenu(started),
    "cuda-lsp.restartServer": () => started.restart(),
    "cuda-lsp.stopServer": () => started.stop(),
    "cuda-lsp.installServer": () => started.install(),
    "cuda-lsp.removeServer": () => removeServer(started),
    "cuda-lsp.showLog": () => log.show(),
    "cuda-lsp.openSettings": () => vscode.commands.executeCommand("workbench.action.openSettings", `@ext:${context.extension.id}`),
    "cuda-lsp.openWalkthrough": () => walkthrough.open(),
    "cuda-lsp.checkWorkspace": () => checkWorkspace(started),
    "cuda-lsp.explainKernel": (uri?: string, kernel?: string) => kernels.explain(text(uri), text(kernel)),
    "cuda-lsp.run": (uri?: string, kernel?: string, label?: string) => kernels.run(text(uri), text(kernel), text(label)),
    "cuda-lsp.showRaces": (uri?: string, kernel?: string, label?: string) => {
      const file = text(uri) ?? activeCuda()?.uri.toString();
      return file === undefined
        ? vscode.window.showInformationMessage("cuda-lsp: open a CUDA file first.")
        : explorer.show(file, text(kernel), text(label));
    },
    "cuda-lsp.previewFix": () => withCuda(started, (client, editor) => preview.preview(client, editor)),
    "cuda-lsp.applyPreviewedFix": (uri?: vscode.Uri) => preview.apply(uri),
    "cuda-lsp.fixAll": () => withCuda(started, fixAll),
  };
  for (const [name, action] of Object.entries(commands)) {
    const step = STEPS[name];
    const noted = (...given: never[]): unknown => {
      if (step !== undefined) {
        walkthrough.note(step);
      }
      return action(...given);
    };
    context.subscriptions.push(vscode.commands.registerCommand(name, noted));
  }

  // The step of the walkthrough about squiggles is done when there is one.
  const noted = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
    if (uris.some((uri) => vscode.languages.getDiagnostics(uri).some(({ source }) => source === SECTION))) {
      void vscode.commands.executeCommand("setContext", "cudaLsp.hasFindings", true);
      walkthrough.note("server");
      walkthrough.note("squiggle");
      noted.dispose();
    }
  });
  context.subscriptions.push(noted);

  const startFor = (document: vscode.TextDocument): void => {
    if (isCuda(document)) {
      void started.ensure();
    }
  };
  vscode.workspace.textDocuments.forEach(startFor);
  // A path is typed letter by letter, and the client still tells the server of the change.
  let timer: NodeJS.Timeout | undefined;
  const restartSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void started.restart(), SETTLED_MS);
  };
  context.subscriptions.push(
    { dispose: () => clearTimeout(timer) },
    vscode.workspace.onDidOpenTextDocument(startFor),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void started.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(`${SETTINGS}.server`)) {
        restartSoon();
      }
    }),
  );
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

/** Menus hand over what they like as arguments; only text is meant for us. A resource of a menu is a URI. */
function text(given: unknown): string | undefined {
  return typeof given === "string" ? given : given instanceof vscode.Uri ? given.toString() : undefined;
}

/** Do something to the CUDA file in front, or say what is missing for it. */
async function withCuda(server: Server, work: (client: LanguageClient, editor: vscode.TextEditor) => Promise<void>): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isCuda(editor.document)) {
    void vscode.window.showInformationMessage("cuda-lsp: open a CUDA file first.");
  } else if (server.running === undefined) {
    void vscode.window.showWarningMessage("cuda-lsp: the server is not running.");
  } else {
    await work(server.running, editor);
  }
}

async function removeServer(server: Server): Promise<void> {
  const text = `Remove the server's own environment, ${server.environment.folder}? Nothing else is touched.`;
  if ((await vscode.window.showWarningMessage(text, { modal: true }, "Remove")) === "Remove") {
    await server.removeOwn();
  }
}

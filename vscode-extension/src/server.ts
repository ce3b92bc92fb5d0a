// The life of the server: finding it, offering to install it, starting, watching and restarting it.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as readline from "node:readline";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, ExecuteCommandRequest, LanguageClient, type LanguageClientOptions, type LSPAny, State } from "vscode-languageclient/node";

import { findServer, type Found, type Missing } from "./discovery";
import { SELECTOR } from "./documents";
import { OwnEnvironment } from "./environment";
import { type Health, WorkList } from "./health";
import { runToEnd, whyItEnded } from "./process";
import { selectedPython } from "./pythonExtension";
import { LogReader } from "./serverLog";
import { serverNames, serverSettings } from "./settings";
import type { StatusBar } from "./status";
import { mismatch, versionOf } from "./versions";

export const SECTION = "cuda-lsp";
export const SETTINGS = "cudaLsp";
const RUNNING = "cudaLsp.isRunning";
/** A server that ends by itself is started again, this often in this many milliseconds. */
const MOST_RESTARTS = 3;
const RESTART_SPAN_MS = 180_000;
/** How long a program may take to tell its version: a Python that starts from a cold disk takes seconds. */
const PATIENCE_MS = 30_000;
const RECHECK = "cuda-lsp.recheck";
/** How long the status bar says what was done. */
const SAID_MS = 5_000;

export class Server implements vscode.Disposable {
  readonly environment: OwnEnvironment;
  private client: LanguageClient | undefined;
  private found: Found | undefined;
  private readonly work = new WorkList();
  private notice: string | undefined;
  private starting: Promise<void> | undefined;
  private deaths: number[] = [];
  private declined = false;
  /** Whether the server that was started last ever answered. */
  private wasUp = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
    private readonly status: StatusBar,
  ) {
    this.environment = new OwnEnvironment(context, log, (step) => this.tell({ kind: "installing", step }));
  }

  /** The running client; undefined when there is none. */
  get running(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  /** The program behind the server; its other commands work without a running one. */
  get program(): string | undefined {
    return this.found?.command;
  }

  get version(): string {
    return (this.context.extension.packageJSON as { version: string }).version;
  }

  /** Start unless it runs. Where there is no server the user is asked what to do, once. */
  ensure(): Promise<void> {
    if (this.client !== undefined || (this.declined && this.found === undefined)) {
      return Promise.resolve();
    }
    this.starting ??= this.start().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  /** End the server if it runs, and look for one again. */
  async restart(): Promise<void> {
    await this.starting;
    await this.stop();
    this.declined = false;
    this.deaths = [];
    await this.ensure();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.work.clear();
    if (client !== undefined) {
      // One that hangs is not waited for.
      await client.dispose(4_000).catch((error: unknown) => this.log.warn(`while the server stopped: ${String(error)}`));
      this.tell({ kind: "stopped" });
    }
    await this.setRunning(false);
  }

  /** Install into the extension's own environment and start what is there. */
  async install(): Promise<void> {
    await this.stop();
    const isDone = await this.environment.install(vscode.workspace.isTrusted ? await selectedPython() : undefined);
    if (isDone) {
      this.declined = false;
      await this.ensure();
      void vscode.window.showInformationMessage("cuda-lsp: the server is installed. CUDA files are checked when they are opened and saved.");
    } else {
      this.tell({ kind: "missing" });
    }
  }

  /** Remove the extension's own environment. A server that is elsewhere goes on. */
  async removeOwn(): Promise<void> {
    const isInUse = this.found?.command.startsWith(this.environment.folder + path.sep) === true;
    if (isInUse) {
      await this.stop();
    }
    await this.environment.remove();
    if (isInUse) {
      this.found = undefined;
      // Who removes it need not be asked whether to install it.
      this.declined = true;
      this.tell({ kind: "missing" });
    }
  }

  /** The server's settings for a resource: what somebody has set. */
  settingsOf(resource: vscode.Uri | undefined): Record<string, unknown> {
    return serverSettings(serverNames(properties(this.context), SETTINGS), vscode.workspace.getConfiguration(SETTINGS, resource));
  }

  private async start(): Promise<void> {
    const found = await this.look();
    if (found.kind === "missing") {
      this.found = undefined;
      const reason = found.configured === undefined ? undefined : `cudaLsp.server.path points to ${found.configured}, which is no file.`;
      this.tell({ kind: "missing", reason });
      void this.offer(found, reason);
      return;
    }
    this.found = found;
    this.notice = undefined;
    this.wasUp = false;
    this.log.info(`starting ${found.command} (${found.origin})`);
    this.tell({ kind: "starting" });
    // A program that is something else, or broken, says so best when it is asked for its version.
    const answer = await runToEnd(found.command, ["--version"], { signal: AbortSignal.timeout(PATIENCE_MS), folder: path.dirname(found.command) });
    if (answer.code !== 0 || versionOf(answer.output) === undefined) {
      this.failed(`The server ${found.command} could not be started: it does not tell its version (${whyItEnded(answer)}).`);
      return;
    }
    // Not in the workspace: what lies there must not be taken for a part of the server.
    const server = { command: found.command, args: ["serve"], options: { cwd: path.dirname(found.command) } };
    const client = new LanguageClient(SETTINGS, SECTION, server, this.options());
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (this.client === client && newState === State.Running) {
        this.refresh();
      }
    });
    try {
      await client.start();
    } catch (error) {
      if (this.client === client) {
        this.client = undefined;
        this.failed(`The server ${found.command} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      }
      return;
    }
    this.wasUp = true;
    await this.setRunning(true);
    this.compareVersions(client, found);
    this.refresh();
  }

  private async look(): Promise<Found | Missing> {
    const { isTrusted, workspaceFolders = [] } = vscode.workspace;
    return findServer({
      platform: process.platform,
      home: os.homedir(),
      configured: vscode.workspace.getConfiguration(SETTINGS).get<string>("server.path", ""),
      python: isTrusted ? await selectedPython() : undefined,
      folders: workspaceFolders.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath),
      isTrusted,
      searchPath: process.env["PATH"] ?? process.env["Path"] ?? "",
      ownEnvironment: this.environment.folder,
      isFile: (file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true,
    });
  }

  /** Ask what to do without a server. */
  private async offer(missing: Missing, reason: string | undefined): Promise<void> {
    if (missing.configured !== undefined) {
      if ((await vscode.window.showErrorMessage(`cuda-lsp: ${reason}`, "Open Settings")) !== undefined) {
        await vscode.commands.executeCommand("workbench.action.openSettings", "cudaLsp.server.path");
      }
      return;
    }
    const text =
      "cuda-lsp: no server was found. Install it into an environment of its own? " +
      "It needs Python 3.10 or newer; its packages are fetched with pip and take about 0.8 GB on disk. Nothing else on this machine changes.";
    const choice = await vscode.window.showInformationMessage(text, "Install", "Choose a Server", "Not Now");
    if (choice === "Install") {
      await this.install();
    } else if (choice === "Choose a Server") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "cudaLsp.server.path");
    } else {
      this.declined = true;
    }
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: SELECTOR,
      // Code lenses name these instead of commands of the server. Whether kernels may be executed is no setting, for the
      // workspace could set it; without trust nothing offers a run either.
      initializationOptions: () => {
        const trusted = vscode.workspace.isTrusted;
        const clientCommands = ["cuda-lsp.showRaces", ...(trusted ? ["cuda-lsp.run"] : [])];
        return { clientCommands, diagnosticsInHover: true, trusted };
      },
      outputChannel: this.log,
      stdioOptions: {
        // Standard output is the protocol's.
        stdout: () => undefined,
        stderr: (input) => {
          const reader = new LogReader();
          readline.createInterface({ input, crlfDelay: Infinity }).on("line", (line) => {
            const { level, text } = reader.read(line);
            this.log[level](text);
          });
        },
      },
      synchronize: { configurationSection: SETTINGS },
      diagnosticCollectionName: SECTION,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (_error, _message, count) => ({ action: (count ?? 0) < 5 ? ErrorAction.Continue : ErrorAction.Shutdown }),
        closed: () => this.died(),
      },
      middleware: {
        executeCommand: (command, given) => this.execute(command, given),
        workspace: {
          configuration: async (params, token, next) => {
            const theirs = params.items.some((item) => item.section !== SECTION) ? await next(params, token) : [];
            return params.items.map((item, index) =>
              item.section === SECTION
                ? this.settingsOf(scope(item.scopeUri))
                : Array.isArray(theirs)
                  ? (theirs[index] as unknown)
                  : null,
            );
          },
        },
        handleWorkDoneProgress: (token, value, next) => {
          this.work.take(token, value);
          this.refresh();
          // The status bar item shows it: a second, anonymous one beside it would say the same. Its end must come
          // through all the same, and what this extension asked for by itself has a listener of its own.
          if (value.kind === "end" || String(token).startsWith("cuda-lsp-extension/")) {
            next(token, value);
          }
        },
      },
    };
  }

  /** A command of the server. What fails is said in a sentence: the client would show the protocol's words. */
  private async execute(command: string, given: readonly unknown[]): Promise<unknown> {
    const client = this.running;
    if (client === undefined) {
      void vscode.window.showWarningMessage("cuda-lsp: the server is not running.");
      return undefined;
    }
    try {
      const answer: unknown = await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [...given] as LSPAny[] });
      if (command === RECHECK) {
        vscode.window.setStatusBarMessage("$(pass) cuda-lsp: the open files were checked again", SAID_MS);
      }
      return answer;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.log.warn(`${command}: ${text}`);
      void vscode.window.showWarningMessage(`cuda-lsp: ${text}`);
      return undefined;
    }
  }

  /** The connection ended though nobody asked for it. */
  private died(): { action: CloseAction; message?: string; handled?: boolean } {
    if (!this.wasUp) {
      // Whoever started it is told.
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    const now = Date.now();
    this.deaths = [...this.deaths.filter((then) => now - then < RESTART_SPAN_MS), now];
    this.work.clear();
    if (this.deaths.length <= MOST_RESTARTS) {
      this.log.warn("the server ended unexpectedly and is started again");
      this.tell({ kind: "starting" });
      return { action: CloseAction.Restart, handled: true };
    }
    this.client = undefined;
    this.failed(`The server ended ${this.deaths.length} times within three minutes and is not started again.`);
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private failed(reason: string): void {
    this.log.error(reason);
    this.tell({ kind: "failed", reason });
    void this.setRunning(false);
    void vscode.window.showErrorMessage(`cuda-lsp: ${reason}`, "Show Log", "Restart").then((choice) => {
      if (choice === "Show Log") {
        this.log.show(true);
      } else if (choice === "Restart") {
        void this.restart();
      }
    });
  }

  private compareVersions(client: LanguageClient, found: Found): void {
    const theirs = client.initializeResult?.serverInfo?.version;
    this.log.info(`server ${theirs ?? "of unknown version"}, extension ${this.version}`);
    this.notice = mismatch(theirs, this.version, found.command);
    if (this.notice === undefined) {
      return;
    }
    this.log.warn(this.notice);
    const actions = found.origin === "own" ? ["Install This Extension's Server"] : ["Use the Extension's Own Server", "Open Settings"];
    void vscode.window.showWarningMessage(this.notice, ...actions).then(async (choice) => {
      if (choice === "Open Settings") {
        await vscode.commands.executeCommand("workbench.action.openSettings", "cudaLsp.server.path");
      } else if (choice === "Use the Extension's Own Server") {
        await this.useOwn();
      } else if (choice !== undefined) {
        await this.install();
      }
    });
  }

  /** Install our own, and prefer it to whatever else is found. */
  private async useOwn(): Promise<void> {
    await this.install();
    const program = path.join(this.environment.folder, process.platform === "win32" ? "Scripts/cuda-lsp.exe" : "bin/cuda-lsp");
    if (fs.existsSync(program)) {
      await vscode.workspace.getConfiguration(SETTINGS).update("server.path", program, vscode.ConfigurationTarget.Global);
    }
  }

  private refresh(): void {
    if (this.running !== undefined) {
      const version = this.running.initializeResult?.serverInfo?.version ?? "unknown";
      this.tell({ kind: "running", version, work: this.work.all, notice: this.notice });
    }
  }

  private tell(health: Health): void {
    this.status.show(health, this.found?.command);
  }

  private async setRunning(value: boolean): Promise<void> {
    await vscode.commands.executeCommand("setContext", RUNNING, value);
  }

  dispose(): void {
    void this.stop();
  }
}

function properties(context: vscode.ExtensionContext): Record<string, unknown> {
  const manifest = context.extension.packageJSON as { contributes: { configuration: { properties: Record<string, unknown> }[] } };
  return Object.assign({}, ...manifest.contributes.configuration.map((section) => section.properties)) as Record<string, unknown>;
}

function scope(uri: string | undefined): vscode.Uri | undefined {
  return uri === undefined ? vscode.workspace.workspaceFolders?.[0]?.uri : vscode.Uri.parse(uri);
}

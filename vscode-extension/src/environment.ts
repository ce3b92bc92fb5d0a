// The server's own environment: a Python virtual environment in the extension's storage, made and filled only after the
// user has agreed. It holds the wheel that comes with the extension, or the release of the same version.

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { programsOf } from "./discovery";
import { type Ended, runToEnd, whyItEnded } from "./process";
import { PROBE, choose, commands, type Interpreter, pipProgress, readProbe } from "./python";
import { versionOf } from "./versions";

/** Written last: without it an attempt was interrupted. */
const STAMP = "complete.json";

export class OwnEnvironment {
  readonly folder: string;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly onStep: (step: string) => void,
  ) {
    this.folder = path.join(context.globalStorageUri.fsPath, "server");
  }

  /** The version that lies here; undefined when none does. */
  async version(): Promise<string | undefined> {
    try {
      const stamp = JSON.parse(await fs.readFile(path.join(this.folder, STAMP), "utf-8")) as { version?: unknown };
      return typeof stamp.version === "string" ? stamp.version : undefined;
    } catch {
      return undefined;
    }
  }

  async remove(): Promise<void> {
    await fs.rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Make the environment anew; whether that came to a good end. The user sees the progress and may cancel. */
  async install(selected: string | undefined): Promise<boolean> {
    const options = { location: vscode.ProgressLocation.Notification, title: "cuda-lsp: installing the server", cancellable: true };
    const problem = await vscode.window.withProgress(options, async (progress, cancellation) => {
      const abort = new AbortController();
      cancellation.onCancellationRequested(() => abort.abort());
      const tell = (message: string): void => {
        progress.report({ message });
        this.onStep(message);
      };
      const found = await this.fill(selected, tell, abort.signal);
      if (found !== undefined || abort.signal.aborted) {
        await this.remove();
      }
      return abort.signal.aborted ? "" : found;
    });
    if (problem !== undefined && problem !== "") {
      this.log.error(problem);
      // The message may stand there for long; what comes next does not wait for it.
      void vscode.window.showErrorMessage(`cuda-lsp: ${problem}`, "Show Log").then((choice) => {
        if (choice !== undefined) {
          this.log.show(true);
        }
      });
    }
    return problem === undefined;
  }

  /** Undefined when all went well, else what the user is told. */
  private async fill(selected: string | undefined, tell: (message: string) => void, signal: AbortSignal): Promise<string | undefined> {
    tell("looking for Python");
    const python = await this.interpreter(selected, signal);
    if (typeof python === "string") {
      return python;
    }
    this.log.info(`installing with Python ${python.version.join(".")}, ${python.executable}, into ${this.folder}`);
    tell("making an environment");
    await this.remove();
    await fs.mkdir(path.dirname(this.folder), { recursive: true });
    const made = await this.logged(python.executable, ["-m", "venv", this.folder], signal);
    if (made.code !== 0) {
      return `The environment could not be made: ${whyItEnded(made)}`;
    }
    const requirement = await this.requirement();
    const words = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off", requirement];
    const filled = await this.logged(path.join(this.folder, programsOf(process.platform), "python"), words, signal, (line) => {
      const step = pipProgress(line);
      if (step !== undefined) {
        tell(step);
      }
    });
    if (filled.code !== 0) {
      return `The server could not be installed. pip needs the network, or a package index within reach; it ended with: ${whyItEnded(filled)}`;
    }
    tell("trying it");
    const tried = await this.logged(path.join(this.folder, programsOf(process.platform), "cuda-lsp"), ["--version"], signal);
    const version = versionOf(tried.output);
    if (tried.code !== 0 || version === undefined) {
      return `The server was installed but does not start: ${whyItEnded(tried)}`;
    }
    await fs.writeFile(path.join(this.folder, STAMP), JSON.stringify({ version, requirement: path.basename(requirement) }));
    return undefined;
  }

  private async interpreter(selected: string | undefined, signal: AbortSignal): Promise<Interpreter | string> {
    const found: Interpreter[] = [];
    for (const [command, ...words] of commands(process.platform, selected)) {
      const answer = await runToEnd(command ?? "", [...words, "-c", PROBE], { signal });
      const interpreter = answer.code === 0 ? readProbe(answer.output) : undefined;
      if (interpreter !== undefined) {
        found.push(interpreter);
        const chosen = choose(found, process.platform);
        if (typeof chosen !== "string") {
          return chosen;
        }
      }
    }
    return choose(found, process.platform);
  }

  /** What pip is asked for: the wheel of this extension with what `cuda-lsp run` needs. */
  private async requirement(): Promise<string> {
    const folder = path.join(this.context.extensionPath, "server");
    const names = await fs.readdir(folder).catch(() => []);
    const wheel = names.find((name) => name.endsWith(".whl"));
    const version = (this.context.extension.packageJSON as { version: string }).version;
    return wheel === undefined ? `cuda-lsp[run]==${version}` : `${path.join(folder, wheel)}[run]`;
  }

  private async logged(command: string, words: string[], signal: AbortSignal, onLine?: (line: string) => void): Promise<Ended> {
    const take = (line: string): void => {
      this.log.info(line);
      onLine?.(line);
    };
    return runToEnd(command, words, { signal, onLine: take });
  }
}

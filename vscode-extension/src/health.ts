// What the status bar says: the state of the server and of its checks, as text, as a sentence, and for a screen reader.

export type Health =
  | { readonly kind: "idle" }
  | { readonly kind: "missing"; readonly reason?: string | undefined }
  | { readonly kind: "installing"; readonly step: string }
  | { readonly kind: "starting" }
  | { readonly kind: "running"; readonly version: string; readonly work: readonly Work[]; readonly notice?: string | undefined }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "stopped" };

/** One check under way. */
export interface Work {
  readonly title: string;
  readonly message: string | undefined;
  /** 0 to 100; undefined where nobody knows. */
  readonly percentage: number | undefined;
}

export interface Shown {
  /** The text of the item, with its icon. */
  readonly text: string;
  /** The first line of the tooltip. */
  readonly sentence: string;
  /** The text without icons, for a screen reader. */
  readonly spoken: string;
  readonly level: "normal" | "warning" | "error";
}

const NAME = "cuda-lsp";

export function shown(health: Health): Shown {
  switch (health.kind) {
    case "idle":
      return item("$(circle-outline)", "", "The server starts when a CUDA file is opened.");
    case "missing":
      return item("$(warning)", "no server", health.reason ?? "No cuda-lsp server was found on this machine.", "warning");
    case "installing":
      return item("$(loading~spin)", "installing", `The server is being installed: ${health.step}.`);
    case "starting":
      return item("$(loading~spin)", "starting", "The server is starting.");
    case "stopped":
      return item("$(circle-slash)", "stopped", "The server is stopped.", "warning");
    case "failed":
      return item("$(error)", "failed", health.reason, "error");
    case "running": {
      const newest = health.work.at(-1);
      if (newest !== undefined) {
        const share = newest.percentage === undefined ? "" : `${Math.round(newest.percentage)}%`;
        const more = newest.message === undefined ? "" : `: ${newest.message}`;
        return item("$(sync~spin)", share, `${newest.title}${more}`);
      }
      return health.notice === undefined
        ? item("$(pass)", "", `The server, version ${health.version}, is running.`)
        : item("$(warning)", "", health.notice, "warning");
    }
  }
}

function item(icon: string, detail: string, sentence: string, level: Shown["level"] = "normal"): Shown {
  const words = detail === "" ? NAME : `${NAME}: ${detail}`;
  return { text: `${icon} ${words}`, sentence, spoken: `${words}. ${sentence}`, level };
}

/** Keeps the checks under way, by progress token, in the order in which they began. */
export class WorkList {
  private readonly items = new Map<string | number, Work>();

  /** Take in one `$/progress` value of the protocol. */
  take(token: string | number, value: { kind: string; title?: string; message?: string; percentage?: number }): void {
    if (value.kind === "end") {
      this.items.delete(token);
      return;
    }
    const known = this.items.get(token);
    this.items.set(token, {
      title: value.title ?? known?.title ?? "Working",
      message: value.message ?? known?.message,
      percentage: value.percentage ?? known?.percentage,
    });
  }

  clear(): void {
    this.items.clear();
  }

  get all(): readonly Work[] {
    return [...this.items.values()];
  }
}

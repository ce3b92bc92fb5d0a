// Makes a page of the server fit to be shown inside the editor: nothing is fetched, only the page's own scripts run.

/** A random word that nobody can guess, for one rendering of a page. */
export function nonce(): string {
  const bytes = new Uint8Array(18);
  globalThis.crypto.getRandomValues(bytes);
  return Buffer.from(bytes).toString("base64url");
}

/** The page with a content security policy as the first thing in its head, and the nonce on its scripts and styles. */
export function withPolicy(html: string, word: string): string {
  const policy = [
    "default-src 'none'",
    "img-src data:",
    "font-src data:",
    "style-src 'unsafe-inline'",
    `script-src 'nonce-${word}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const marked = html.replace(/<script\b(?![^>]*\bnonce=)/gi, `<script nonce="${word}"`);
  const head = /<head\b[^>]*>/i.exec(marked);
  if (head !== null) {
    const behind = head.index + head[0].length;
    return marked.slice(0, behind) + meta + marked.slice(behind);
  }
  const doctype = /^\s*<!doctype[^>]*>/i.exec(marked)?.[0] ?? "";
  return `${doctype}<head>${meta}</head>${marked.slice(doctype.length)}`;
}

/** The page in the server's answer; undefined when there is none. */
export function pageOf(answer: unknown): string | undefined {
  const html = typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>)["html"] : answer;
  return typeof html === "string" && html !== "" ? html : undefined;
}

/** What a page may ask of the editor: to show a place in a file, zero-based as in the protocol, or to run a kernel. */
export type Wish =
  | { readonly type: "open"; readonly uri: string; readonly line: number; readonly character: number }
  | { readonly type: "run"; readonly uri: string; readonly kernel: string };

/** The message if it is one that pages may send, else undefined. `uri`: the file that the page is about. */
export function wishOf(message: unknown, uri: string): Wish | undefined {
  if (typeof message !== "object" || message === null) {
    return undefined;
  }
  const { type, uri: where = uri, line, character = 0, kernel } = message as Record<string, unknown>;
  if (typeof where !== "string") {
    return undefined;
  }
  if (type === "run") {
    return typeof kernel === "string" && kernel !== "" ? { type, uri: where, kernel } : undefined;
  }
  const isPlace = Number.isInteger(line) && Number.isInteger(character);
  return type === "open" && isPlace
    ? { type, uri: where, line: Math.max(0, line as number), character: Math.max(0, character as number) }
    : undefined;
}

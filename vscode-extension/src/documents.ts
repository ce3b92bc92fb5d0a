// Which documents are the server's business.

import * as vscode from "vscode";

const LANGUAGES = ["cuda-cpp", "cuda"];

// Headers count as well once a server runs: it knows which of them hold device code. Documents of other schemes are views
// of a file, such as the left side of a diff.
export const SELECTOR = ["file", "untitled"].flatMap((scheme) => [
  ...LANGUAGES.map((language) => ({ scheme, language })),
  { scheme, pattern: "**/*.{cu,cuh,CU,CUH}" },
  ...["c", "cpp"].map((language) => ({ scheme, language, pattern: "**/*.{h,hh,hpp,hxx,h++,inl,inc,ipp,tcc,tpp}" })),
]);

/** Whether a document is CUDA code by itself, so that a server should run. */
export function isCuda(document: vscode.TextDocument): boolean {
  return (
    (document.uri.scheme === "file" || document.uri.scheme === "untitled") &&
    (LANGUAGES.includes(document.languageId) || /\.cuh?$/i.test(document.uri.path))
  );
}

/** The CUDA document that the user looks at. */
export function activeCuda(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document !== undefined && isCuda(document) ? document : undefined;
}

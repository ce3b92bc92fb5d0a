#!/usr/bin/env bash
# Runs the sittings in VS Code with a packed extension and a server: run.sh EXTENSION.vsix SERVER FOLDER_FOR_PICTURES
set -euo pipefail
vsix=$(realpath "$1")
server=$(realpath --no-symlinks "$2")
pictures=$(realpath --canonicalize-missing "$3")
cd "$(dirname "$0")"
words=("$vsix" --server "$server" --chromium "$(command -v chromium)")
node_modules/node/bin/node session.mjs "${words[@]}" --pictures "$pictures"
node_modules/node/bin/node commands.mjs "${words[@]}"
node_modules/node/bin/node restricted.mjs "${words[@]}"
node_modules/node/bin/node workspaces.mjs "${words[@]}"
node_modules/node/bin/node report.mjs "${words[@]:1}"

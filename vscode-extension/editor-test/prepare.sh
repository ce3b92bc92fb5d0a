#!/usr/bin/env bash
# Gets what the test in VS Code needs: Chromium and a few libraries from the system's packages, code-server with its own
# Node from npm. What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
for package in chromium libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev pkg-config g++; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update --quiet
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
fi

stamp=node_modules/.complete
if ! cmp --silent package-lock.json "$stamp"; then
  # A half-installed code-server cannot be mended.
  rm -rf node_modules
  npm ci --ignore-scripts --no-fund --no-audit
  npm rebuild node
  # code-server builds its native parts with the Node it is made for.
  PATH="$PWD/node_modules/node/bin:$PATH" npm_config_unsafe_perm=true npm rebuild code-server
  cp package-lock.json "$stamp"
fi

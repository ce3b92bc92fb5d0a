# `make demo` and `make test` need Python 3.10 or newer, git and make; everything else goes into .venv.
# A stamp per kind of environment, named after the folder and the contents of pyproject.toml, makes a second
# run start at once and brings the environment up to date after a change.

PYTHON ?= python3
BIN := .venv/bin
KEY := $(firstword $(shell (echo '$(CURDIR)'; cat pyproject.toml) | cksum))
RUN_ENV := .venv/run-$(KEY).stamp
DEV_ENV := .venv/dev-$(KEY).stamp
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install

# Tests start hundreds of processes, each of which would compile all modules anew where Python may not keep them compiled.
unexport PYTHONDONTWRITEBYTECODE

EXTENSION := vscode-extension
NODE_ENV := $(EXTENSION)/node_modules/.package-lock.json
VSIX := $(EXTENSION)/cuda-lsp.vsix

.PHONY: help demo test test-thorough test-vscode test-editors screenshots vsix lint format bench clean

help:
	@echo 'make demo    check a real CUDA file through the language server, fix it, check again'
	@echo 'make test    lint, types, layering and the tests'
	@echo 'make test-thorough   the same with all cases of the repairs'
	@echo 'make test-editors  the tests in VS Code, Neovim and Emacs, with what they need (Debian and Ubuntu, Node 20 or newer)'
	@echo 'make test-vscode   those in VS Code only'
	@echo 'make vsix    the VS Code extension, packed with the server (Node 20 or newer)'
	@echo 'make screenshots   the pictures in docs/images, taken anew in VS Code'
	@echo 'make lint    lint, types and layering only'
	@echo 'make format  reformat the Python sources'
	@echo 'make bench   the measurements behind benchmarks/README.md'
	@echo 'make clean   remove the environment, caches and builds'

demo: $(RUN_ENV)
	@$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest -q -n 2 -m 'not thorough'

test-thorough: lint
	$(BIN)/python -m pytest -q -n 2

vsix: $(DEV_ENV) $(NODE_ENV)
	rm -rf $(EXTENSION)/server
	$(BIN)/python -m build --wheel --no-isolation --outdir $(EXTENSION)/server . >/dev/null
	cp LICENSE CHANGELOG.md $(EXTENSION)/
	mkdir -p $(EXTENSION)/out
	cd $(EXTENSION) && npm run --silent check
	@cd $(EXTENSION) && npm run --silent test >out/test.log 2>&1 || { cat out/test.log >&2; exit 1; }
	cd $(EXTENSION) && npm run --silent build
	@cd $(EXTENSION) && npm run --silent package -- --out cuda-lsp.vsix >out/package.log 2>&1 || { cat out/package.log >&2; exit 1; }
	@echo "$(VSIX) is packed. Install it in VS Code with \"Extensions: Install from VSIX...\", or: code --install-extension $(VSIX)"

test-vscode: vsix
	$(EXTENSION)/editor-test/prepare.sh
	$(EXTENSION)/editor-test/run.sh $(VSIX) $(BIN)/cuda-lsp build/screenshots

test-editors: test-vscode
	editors/prepare.sh
	CUDA_LSP_REQUIRE_PROGRAMS=1 $(BIN)/python -m pytest -q tests/test_nvim.py tests/test_emacs.py

screenshots: vsix
	$(EXTENSION)/editor-test/prepare.sh
	$(EXTENSION)/editor-test/run.sh $(VSIX) $(BIN)/cuda-lsp docs/images

lint: $(DEV_ENV)
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/python -m pyright
	$(BIN)/python $(BIN)/lint-imports

format: $(DEV_ENV)
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

bench: $(DEV_ENV)
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	rm -rf $(EXTENSION)/node_modules $(EXTENSION)/out $(EXTENSION)/server $(VSIX) $(EXTENSION)/editor-test/node_modules

$(NODE_ENV): $(EXTENSION)/package-lock.json
	@command -v npm >/dev/null || { echo 'The extension is built with Node 20 or newer and npm, and there is no npm.' >&2; exit 1; }
	cd $(EXTENSION) && npm ci --no-fund --no-audit --silent
	@touch $@

# pip is what venv writes last: without it an earlier attempt was interrupted.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "cuda-lsp needs Python 3.10 or newer, but '$(PYTHON)' is not it; name one: make PYTHON=python3.12 demo" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "'$(PYTHON)' comes without venv or ensurepip; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv

$(RUN_ENV): | .venv/bin/pip
	@echo 'Building .venv: once, a minute or so'
	@rm -f .venv/*.stamp
	@$(PIP) --editable .
	@touch $@

$(DEV_ENV): | .venv/bin/pip
	@echo 'Building .venv with the development tools: once, a minute or so'
	@rm -f .venv/*.stamp
	@$(PIP) --editable '.[dev]'
	@touch $(RUN_ENV) $@

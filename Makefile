# make demo: sets up what running needs, publishes a built-in table, says where the report is
# make check: before each commit: lint and the fast tests
# make test: sets up what the tests need, and runs them all

.DEFAULT_GOAL := help
.PHONY: help demo setup setup-dev hooks servers check test test-oldest lint format site docs bench fuzz figures adult dist pins clean

PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3,$(if $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(p))))
OLDEST ?= $(firstword $(foreach p,python3.11 python3,$(if $(shell $(p) -c 'import sys; print(sys.version_info[:2] == (3, 11) or "")' 2>/dev/null),$(p))))
JOBS ?= 2
# A worker has tests that stand together, so that what a file's tests share is made once, and takes from the other's when
# it has none left.
WORKERS = -n $(JOBS) --dist worksteal
SECONDS ?= 600
VENV := .venv
BIN := $(VENV)/bin
# Debian splits Python's venv module off. Where we may, it is installed, and said so; SYSTEM=no touches no system.
SYSTEM ?= yes
INSTALL_VENV := test "$(SYSTEM)" = yes && test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing the system package python3-venv by apt-get, since Python's venv module is missing (SYSTEM=no leaves it to you)" && apt-get update -qq && apt-get install -y -qq python3-venv
# The tests of PostgreSQL need a server. Where we may, it comes from the distribution; without one they are skipped.
INITDB ?= $(firstword $(shell command -v initdb 2>/dev/null) $(wildcard /usr/lib/postgresql/*/bin/initdb))
INSTALL_POSTGRES := test "$(SYSTEM)" = yes && test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing the system package postgresql by apt-get, for the tests that need a server (SYSTEM=no leaves them out)" && apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql
# The tests of the collector's page need a browser; the same holds of it.
CHROMIUM ?= $(shell command -v chromium 2>/dev/null)
INSTALL_CHROMIUM := test "$(SYSTEM)" = yes && test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing the system package chromium by apt-get, for the tests that need a browser (SYSTEM=no leaves them out)" && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
# Bytecode is kept, inside of the environment and whatever the caller's shell says: the tests start sfumato hundreds of
# times, and each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

# One environment, filled in three steps, each with a stamp that says it is done: what running needs, what the
# documentation site needs, and what development needs, which is all of it. The versions of the steps agree.
RUN := $(VENV)/.installed-run
SITE := $(VENV)/.installed-site
DEV := $(VENV)/.installed-dev

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUN) ## publish a built-in hospital table and show what holds and what it cost
	$(BIN)/sfumato demo --out demo-release --force

setup: $(RUN) ## make .venv with sfumato and what it needs to run

setup-dev: $(DEV) ## add to .venv what the tests, the linters and the site need

hooks: $(DEV) ## have git lint before each commit and run make check before each push
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

servers: ## install what the tests of databases and of pages need, where we may and it is missing
	@test -n "$(INITDB)" || { $(INSTALL_POSTGRES); } || echo "there is no PostgreSQL, so that its tests will be skipped (Debian: apt-get install postgresql)"
	@test -n "$(CHROMIUM)" || { $(INSTALL_CHROMIUM); } || echo "there is no Chromium, so that its tests will be skipped (Debian: apt-get install chromium)"

check: lint ## lint and run the fast tests: before each commit, under three minutes
	$(BIN)/python -m pytest $(WORKERS) -m "not slow"

test: lint servers ## lint and run all tests, those of the documentation, of the papers and of kills included
	$(BIN)/python -m pytest $(WORKERS)

test-oldest: $(VENV)-oldest/.installed ## run the fast tests with the oldest versions that pyproject.toml allows
	$(VENV)-oldest/bin/python -m pytest $(WORKERS) -m "not slow" -W default::DeprecationWarning

lint: $(DEV) ## check format, rules, types and the direction of imports, without running anything
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers $(JOBS)
	$(BIN)/lint-imports --no-cache

format: $(DEV) ## format the code, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

site: $(SITE) ## make a site of the documentation in site/, to be read without a network; no dead link passes
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --doctree-dir build/doctrees -c docs . site
	@echo "open site/index.html"

docs: $(DEV) ## write docs/reference.md from the docstrings, and docs/papers.md from the runs that are kept
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_papers.py

bench: $(DEV) ## measure time, memory and quality, as ratios against yardsticks of the same run
	$(BIN)/python -m benchmarks.run

fuzz: $(DEV) ## try random tables and policies against the definitions, ten minutes or SECONDS=n; SEED=n repeats one
	$(BIN)/python -m fuzz.run $(if $(SEED),--seed $(SEED),--seconds $(SECONDS))

figures: $(DEV) ## run the experiments of all papers and the slow benchmarks, with plots (long)
	$(BIN)/sfumato reproduce all --out benchmarks --force
	$(BIN)/python docs/make_papers.py
	$(BIN)/python -m benchmarks.scale --full
	$(BIN)/python -m benchmarks.queries
	$(BIN)/python -m benchmarks.bottom_up

adult: $(RUN) ## fetch the Adult census rows into benchmarks/data
	$(BIN)/python -m benchmarks.fetch_adult

dist: $(DEV) ## build the wheel and the source archive into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build

pins: $(VENV)-pins/bin/pip ## find the newest versions of all dependencies anew, and write requirements*.txt
	$(VENV)-pins/bin/python tools/pins.py newest

clean: ## remove what was made
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-pins demo-release build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis fuzz-failures

$(RUN): requirements.txt pyproject.toml | $(BIN)/pip
	$(BIN)/python $(INSTALL) -r requirements.txt -e .
	@touch $@

$(SITE): requirements-site.txt | $(BIN)/pip
	$(BIN)/python $(INSTALL) -r requirements-site.txt
	@touch $@

$(DEV): requirements-dev.txt requirements-site.txt requirements.txt pyproject.toml | $(BIN)/pip
	$(BIN)/python $(INSTALL) -r requirements-dev.txt -e .
	@touch $(RUN) $(SITE) $@

$(VENV)-oldest/.installed: pyproject.toml requirements-dev.txt tools/pins.py | $(VENV)-oldest/bin/pip
	$(VENV)-oldest/bin/python tools/pins.py oldest > $(VENV)-oldest/oldest.txt
	$(VENV)-oldest/bin/python $(INSTALL) -r $(VENV)-oldest/oldest.txt -e .
	@touch $@

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "error: sfumato needs Python 3.11 or later; install it, or say make PYTHON=/path/to/python" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { $(INSTALL_VENV); } || { echo "error: Python's venv module is missing; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)-oldest/bin/pip $(VENV)-pins/bin/pip:
	@test -n "$(OLDEST)" || { echo "error: this needs Python 3.11, the oldest that we support; install it, or say make OLDEST=/path/to/python3.11" >&2; exit 2; }
	$(OLDEST) -m venv $(@:/bin/pip=)

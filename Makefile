# make demo: sets up, publishes a built-in table, says where the report is
# make test: sets up what the tests need, and runs them all

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench figures docs adult clean

PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3,$(if $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(p))))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv, with sfumato and everything its tests need

$(READY): requirements-dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: sfumato needs Python 3.11 or later; install it, or say make PYTHON=/path/to/python" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq python3-venv; } || { echo "error: Python's venv module is missing; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: setup ## publish a built-in hospital table and show what holds and what it cost
	$(BIN)/sfumato demo --out demo-release --force

test: setup lint ## run every check there is: style, types, layers, tests, docs
	$(BIN)/python -m pytest -n 2

lint: setup ## ruff, mypy, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: setup ## measure time, memory and quality, as ratios against yardsticks of the same run
	$(BIN)/python -m benchmarks.run

figures: setup ## run the experiments of all papers and the slow benchmarks, with plots (long)
	$(BIN)/sfumato reproduce all --out benchmarks --force
	$(BIN)/python docs/make_papers.py
	$(BIN)/python -m benchmarks.scale --full
	$(BIN)/python -m benchmarks.queries
	$(BIN)/python -m benchmarks.bottom_up

docs: setup ## write docs/reference.md from the docstrings, and docs/papers.md from the runs that are kept
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_papers.py

adult: setup ## fetch the Adult census rows into benchmarks/data
	$(BIN)/python -m benchmarks.fetch_adult

clean: ## remove what was made
	rm -rf $(VENV) demo-release build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

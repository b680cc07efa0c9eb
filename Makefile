# On a fresh machine with python3 and make: each target makes .venv, installs what it needs, and runs.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
EVERYTHING := .[deep,data,tables,app,dask,peers,dev,docs]

.PHONY: demo check test lint scripts slow stress stress-small bench docs package clean help

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: .venv/.user  ## Fit the models on a simulated cohort and see what each would gain
	@$(BIN)/lifeyears demo

check: .venv/.developer lint  ## While working: lint, types and the quick tests of every package; under 90 seconds
	$(BIN)/python -m pytest -n 2 @tests/quick.txt --cov --cov-report=term:skip-covered --cov-fail-under=60

test: .venv/.developer lint  ## Before pushing: lint, types, imports, doctests, tests, coverage of 90%; under 12 minutes
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term --cov-fail-under=90

lint: .venv/.developer scripts  ## Lint and format check of Python and JavaScript, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# npm is optional on a contributor's machine; .ci/run insists on it
scripts:
	@if command -v npm >/dev/null; then \
	  $(MAKE) --no-print-directory node_modules/.installed && npm run --silent lint; \
	elif [ -n "$(CI)" ]; then echo "npm is missing: the scripts of the page cannot be linted"; exit 1; \
	else echo "npm is not installed: the scripts of the page are not linted"; fi

slow: .venv/.developer  ## What takes minutes: packaging, oldest and newest dependencies
	$(BIN)/python -m pytest -m slow

stress: .venv/.developer  ## Hard use: properties, fuzzing, faults, a million rows, Dask; over an hour; writes stress/results
	$(BIN)/python stress/run.py

stress-small: .venv/.developer  ## A few of everything in `make stress`; under five minutes; keeps no results
	$(BIN)/python stress/run.py --small

bench: .venv/.developer  ## Ours and the peers side by side; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

docs: .venv/.developer  ## Build the documentation into docs/_build
	$(BIN)/python -m sphinx -W -q docs docs/_build

package: .venv/.developer  ## Build wheel and sdist and check them
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf .venv node_modules dist docs/_build

# torch goes in first and pinned, so that nothing else pulls another build
.venv/.user: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --upgrade pip
	$(PIP) torch
	$(PIP) --editable ".[deep]"
	touch $@

.venv/.developer: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --upgrade pip
	$(PIP) torch
	$(PIP) --editable "$(EVERYTHING)"
	touch $@ .venv/.user

node_modules/.installed: package.json package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --silent
	touch $@
